import { freePort } from '@plant-store/local/servers/free-port';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Replica, startReplica } from '../../../harness/api/api.ts';
import { freshId } from '../../../harness/api/post-plant.ts';
import { expectRefusal } from '../../../harness/api/refusal.ts';
import { type MongoProxy, mongoProxy } from '../../../harness/network/mongo-proxy.ts';
import { exchange } from '../../../harness/network/raw-http.ts';
import { testEnvironment } from '../../../harness/servers/servers.ts';
import { waitFor } from '../../../harness/wait-for.ts';
import { render } from '../../corpus/case.ts';

const environment = testEnvironment();
const startAt = (mongodbUrl: string, options?: { awaitReady: boolean }) =>
  startReplica({ ...environment, MONGODB_URL: mongodbUrl }, options);

/** As a client with a key sends it. */
const post = (url: string) =>
  exchange(url, render({ headers: { 'Idempotency-Key': `key-${freshId()}` } }), { withinMs: 5_000 });
const ready = async ({ internalUrl }: Replica) => (await fetch(`${internalUrl}/readyz`)).status === 200;

describe('5001: not stored, for certain, because nothing was sent', () => {
  test('from a replica whose database was never there; it starts all the same', async () => {
    await using replica = await startAt(
      `mongodb://127.0.0.1:${await freePort()}/none?directConnection=true`,
      { awaitReady: false },
    );
    expectRefusal(await post(replica.url), 503, 5001);
    expect(await ready(replica)).toBe(false);
  });

  test('with a database that takes connections and says nothing', async () => {
    await using proxy = await mongoProxy(environment.MONGODB_URL);
    proxy.stall();
    await using replica = await startAt(proxy.url, { awaitReady: false });
    expectRefusal(await post(replica.url), 503, 5001);
    expect(proxy.seen('insert')).toEqual([]);
  });

  describe('after the database has gone', () => {
    let proxy: MongoProxy;
    let replica: Replica;
    const serves = () =>
      waitFor(async () => (await post(replica.url)).status === 200, { withinMs: 10_000, what: 'a create' });

    beforeAll(async () => {
      proxy = await mongoProxy(environment.MONGODB_URL);
      replica = await startAt(proxy.url);
      await serves();
    });
    afterAll(async () => {
      await replica?.close();
      await proxy?.close();
    });

    test('and refuses connections; creates succeed again with nobody’s help', async () => {
      proxy.refuse();
      const sent = proxy.seen('insert').length;
      const answers = await Promise.all(Array.from({ length: 50 }, () => post(replica.url)));
      for (const answer of answers) expectRefusal(answer, 503, 5001);
      expect(proxy.seen('insert')).toHaveLength(sent);
      expect(await ready(replica)).toBe(false);

      await proxy.accept();
      await serves();
      expect(await ready(replica)).toBe(true);
    });

    test('and new connections hang', async () => {
      proxy.cut();
      proxy.stall();
      const sent = proxy.seen('insert').length;
      expectRefusal(await post(replica.url), 503, 5001);
      expect(proxy.seen('insert')).toHaveLength(sent);
      proxy.resume();
      await serves();
    });
  });
});

test('5002: sent, and no answer', async () => {
  await using proxy = await mongoProxy(environment.MONGODB_URL);
  await using replica = await startAt(proxy.url);
  await waitFor(async () => (await post(replica.url)).status === 200, { withinMs: 10_000, what: 'a create' });
  proxy.plan('insert', 'lose request', 'lose request');
  expectRefusal(await post(replica.url), 503, 5002);
});
