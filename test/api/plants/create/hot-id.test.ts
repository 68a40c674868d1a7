import { errorCatalogue } from '@plant-store/contracts/error-catalogue';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { apiUnderTest, type Replica, startReplica } from '../../../harness/api/api.ts';
import { freshId, plantJson, postPlant } from '../../../harness/api/post-plant.ts';
import { type MongoProxy, mongoProxy } from '../../../harness/network/mongo-proxy.ts';
import { rawConnection } from '../../../harness/network/raw-http.ts';
import { render } from '../../corpus/case.ts';

const KEY = 'the-key-of-this-file';
const CONNECTIONS = 50;
const RETRIES_EACH = 50;
/** As far away as a database may be: one round trip for each retry would take most of a minute. */
const DATABASE_DELAY_MS = 10;
/** Retries share reads: there is less than one read for ten of them. */
const READS_MAX = (CONNECTIONS * RETRIES_EACH) / 10;
const ATTEMPTS_MAX = 5;

const api = apiUnderTest();
let proxy: MongoProxy;
const startFar = () => startReplica({ ...api.environment, MONGODB_URL: proxy.url });

beforeAll(async () => {
  proxy = await mongoProxy(api.environment['MONGODB_URL'] as string);
  proxy.delay(DATABASE_DELAY_MS);
});
afterAll(() => proxy?.close());

test.each<[string, (replica: Replica) => string]>([
  ['this replica', ({ url }) => url],
  ['another one', () => api.url],
])('2,500 retries at once of one plant that %s stored: all get the first answer', async (_, storing) => {
  await using replica = await startFar();
  const plant = { id: freshId(), name: 'a' };
  expect((await postPlant(storing(replica), plant, { key: KEY })).status).toBe(200);

  const retry = render({ headers: { 'Idempotency-Key': KEY }, body: plantJson(plant) });
  const before = proxy.seen('find').length;
  const connections = Array.from({ length: CONNECTIONS }, () => retryOn(replica.url, retry));
  const answers = (await Promise.all(connections)).flat();
  expect(new Set(answers)).toEqual(new Set(['200 true {"name":"a"}']));
  expect(proxy.seen('find').length - before).toBeLessThan(READS_MAX);
});

/** On a busy machine mongod may take longer than a read may. That answer, 5002, says: send it again. */
async function retryOn(url: string, retry: Buffer): Promise<string[]> {
  await using connection = await rawConnection(url);
  const answers: string[] = [];
  let open = RETRIES_EACH;
  for (let attempt = 1; open > 0; attempt++) {
    connection.send(Buffer.concat(Array.from({ length: open }, () => retry)));
    for (let awaited = open; awaited > 0; awaited--) {
      const { status, headers, body } = await connection.answer();
      const isUnknown = body.includes(`"error":${errorCatalogue.outcomeUnknown.error},`);
      if (isUnknown && attempt < ATTEMPTS_MAX) continue;
      answers.push(`${status} ${headers.get('idempotency-replayed')} ${body}`);
      open--;
    }
  }
  return answers;
}
