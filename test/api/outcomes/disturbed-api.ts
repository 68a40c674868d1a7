import { type Collection, MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect } from 'vitest';
import type { PlantDocument } from '../../../packages/contracts/src/plant-document.ts';
import { type Replica, startReplica } from '../../harness/api/api.ts';
import { type Answer, freshId, type PlantToSend, postPlant } from '../../harness/api/post-plant.ts';
import { token } from '../../harness/api/tokens.ts';
import { type MongoProxy, mongoProxy } from '../../harness/network/mongo-proxy.ts';
import { testEnvironment } from '../../harness/servers/servers.ts';
import { waitFor } from '../../harness/wait-for.ts';

/** The API answers within 4 s, whatever happens to its database. On a busy machine the answer is noticed later. */
const ANSWER_MS_MAX = 10_000;

const KEY = 'the-key-of-this-file';

export type DisturbedApi = {
  readonly replica: Replica;
  readonly proxy: MongoProxy;
  /** A further replica behind the proxy, which remembers no id. */
  another: () => Promise<Replica>;
  /** Not through the proxy. */
  plants: Collection<PlantDocument>;
  /** Waits until creates succeed. */
  recovered: () => Promise<void>;
};

/** One replica that reaches its database through a proxy. Call it at the top of a file. */
export function disturbedApi(): DisturbedApi {
  const environment = testEnvironment();
  const mongo = new MongoClient(environment.MONGODB_URL, { useBigInt64: true });
  let proxy: MongoProxy;
  let replica: Replica;
  const recovered = async () => {
    await waitFor(async () => (await create(replica, { id: freshId(), name: 'recovered' })).status === 200, {
      withinMs: 15_000,
      what: 'a create succeeds',
    });
  };
  const another = () => startReplica({ ...environment, MONGODB_URL: proxy.url });
  beforeAll(async () => {
    proxy = await mongoProxy(environment.MONGODB_URL);
    replica = await another();
    await recovered();
  });
  afterAll(async () => {
    await replica?.close();
    await proxy?.close();
    await mongo.close();
  });
  return {
    get replica() {
      return replica;
    },
    get proxy() {
      return proxy;
    },
    another,
    plants: mongo.db().collection<PlantDocument>('plants'),
    recovered,
  };
}

/** Creates a plant with a key and asserts that the answer came in time. */
export async function create(
  { url }: Replica,
  plant: PlantToSend,
  { key = KEY, subject = 'gardener' } = {},
): Promise<Answer> {
  const started = performance.now();
  const answer = await postPlant(url, plant, { key, accessToken: token({ claims: { sub: subject } }) });
  expect(performance.now() - started).toBeLessThan(ANSWER_MS_MAX);
  return answer;
}

/** 200, `replayed`, or the catalogue's number. */
export function outcomeOf({ status, headers, body }: Answer): number | 'replayed' {
  if (headers.get('idempotency-replayed') === 'true') return 'replayed';
  return body.error ?? status;
}
