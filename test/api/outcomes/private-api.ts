import { type Collection, MongoClient } from 'mongodb';
import { afterAll, beforeAll } from 'vitest';
import type { PlantDocument } from '../../../packages/contracts/src/plant-document.ts';
import { type Replica, startReplica } from '../../harness/api/api.ts';
import { freshId } from '../../harness/api/post-plant.ts';
import { type PrivateServer, privateMongod } from '../../harness/servers/private-servers.ts';
import { testEnvironment, testQueue } from '../../harness/servers/servers.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { create } from './disturbed-api.ts';

export type PrivateApi = {
  readonly replica: Replica;
  readonly mongod: PrivateServer;
  readonly mongo: MongoClient;
  readonly plants: Collection<PlantDocument>;
  /** A further replica on the same database, which remembers no id. */
  another: () => Promise<Replica>;
  /** Waits until creates succeed. */
  recovered: () => Promise<void>;
};

/** One replica with a mongod of this file alone, to be stopped and made to fail at will. Call it at the top of a file. */
export function privateApi(): PrivateApi {
  const queue = testQueue();
  let mongod: PrivateServer;
  let mongo: MongoClient;
  let replica: Replica;
  const another = () => startReplica(testEnvironment({ mongodbUrl: mongod.url, queue }));
  const recovered = async () => {
    await waitFor(async () => (await create(replica, { id: freshId(), name: 'recovered' })).status === 200, {
      withinMs: 15_000,
      what: 'a create succeeds',
    });
  };
  beforeAll(async () => {
    mongod = await privateMongod();
    mongo = new MongoClient(mongod.url, { useBigInt64: true });
    replica = await another();
    await recovered();
  });
  afterAll(async () => {
    await replica?.close();
    await mongo?.close();
    await mongod?.close();
  });
  return {
    get replica() {
      return replica;
    },
    get mongod() {
      return mongod;
    },
    get mongo() {
      return mongo;
    },
    get plants() {
      return mongo.db('plantstore').collection<PlantDocument>('plants');
    },
    another,
    recovered,
  };
}
