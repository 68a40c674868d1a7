import { type Document, MongoClient } from 'mongodb';
import { type MongoProxy, mongoProxy } from '../../harness/network/mongo-proxy.ts';
import type { HeldStep, Step } from '../../harness/network/steps.ts';
import {
  type PrivateServer,
  privateMongod,
  privateReplicaSet,
} from '../../harness/servers/private-servers.ts';
import { type SmallDiskMongod, smallDiskMongod } from '../../harness/servers/small-disk.ts';
import { waitFor } from '../../harness/wait-for.ts';
import type { Topology } from './topology.ts';

/** A failover takes about two seconds with the members' short election timeout. */
const PRIMARY_MS_MAX = 30_000;
const SMALL_DISK_MB = 500;

export type Member = PrivateServer & {
  /** Runs a command on this member, whatever its role. */
  admin: (command: Document) => Promise<Document>;
};

/** The database of one row. */
export type Database = {
  members: readonly Member[];
  /** For the harness' own reads: past all proxies to a single member, through the shared ones to three. */
  client: MongoClient;
  /** A link of one process: the way to the only member, or what all processes share to three. */
  link: () => Promise<DatabaseLink>;
  primary: () => Promise<Member>;
  /** Where its disk is small. */
  disk?: Pick<SmallDiskMongod, 'fillDisk' | 'freeDisk'>;
  /** Waits until a primary takes writes. */
  writable: () => Promise<void>;
  close: () => Promise<void>;
};

export type DatabaseLink = {
  url: string;
  /** The proxies that it leads through. */
  proxies: readonly MongoProxy[];
  /** Holds the next command of this process at the step, whichever member it goes to. */
  hold: (step: Step) => HeldStep;
};

export async function startDatabase(kind: Topology['database']): Promise<Database> {
  return kind === 'three members' ? startThreeMembers() : startSingle(kind);
}

async function startSingle(kind: 'single' | 'small disk'): Promise<Database> {
  const small = kind === 'small disk' ? await smallDiskMongod(SMALL_DISK_MB) : undefined;
  const mongod = small ?? (await privateMongod());
  const proxies: MongoProxy[] = [];
  const link = async () => {
    const proxy = await mongoProxy(mongod.url);
    proxies.push(proxy);
    return { url: proxy.url, proxies: [proxy], hold: proxy.hold };
  };
  const close = async () => {
    await Promise.all(proxies.map((proxy) => proxy.close()));
    await mongod.close();
  };
  const single = database([mongod], mongod.url, link, close);
  return small === undefined ? single : { ...single, disk: small };
}

/** One proxy before each member, for clients and for the other members alike: a replica set tells its clients its addresses. */
async function startThreeMembers(): Promise<Database> {
  const proxies: MongoProxy[] = [];
  const set = await privateReplicaSet({
    electionTimeoutMs: 1_000,
    portBefore: async (port) => {
      const proxy = await mongoProxy(`mongodb://127.0.0.1:${port}/`);
      proxies.push(proxy);
      return proxy.port;
    },
  });
  const hold = (step: Step) => firstOf(proxies.map((proxy) => proxy.hold(step)));
  const close = async () => {
    await Promise.all(proxies.map((proxy) => proxy.close()));
    await set.close();
  };
  return database(set.members, set.url, async () => ({ url: set.url, proxies, hold }), close);
}

function database(
  servers: readonly PrivateServer[],
  url: string,
  link: Database['link'],
  closeServers: () => Promise<void>,
): Database {
  const client = new MongoClient(url, {
    useBigInt64: true,
    serverSelectionTimeoutMS: 5_000,
    readConcern: { level: 'majority' },
  });
  const direct = servers.map(
    ({ port }) =>
      new MongoClient(`mongodb://127.0.0.1:${port}/?directConnection=true`, {
        serverSelectionTimeoutMS: 2_000,
        socketTimeoutMS: 10_000,
      }),
  );
  const members = servers.map(
    (server, index): Member => ({
      ...server,
      admin: (command) => (direct[index] as MongoClient).db('admin').command(command),
    }),
  );

  async function primary(): Promise<Member> {
    return await waitFor(
      async () => {
        for (const member of members) {
          const hello = await member.admin({ hello: 1 }).catch(() => undefined);
          if (hello?.['isWritablePrimary'] === true) return member;
        }
        return undefined;
      },
      { withinMs: PRIMARY_MS_MAX, what: 'the database has a primary' },
    );
  }

  return {
    members,
    client,
    link,
    primary,
    writable: async () => {
      await primary();
      const probe = client.db('faults').collection('probes');
      await waitFor(
        async () => (await probe.insertOne({}, { writeConcern: { w: 'majority' } })).acknowledged,
        { withinMs: PRIMARY_MS_MAX, what: 'the database takes writes' },
      );
    },
    close: async () => {
      await Promise.all([client, ...direct].map((each) => each.close()));
      await closeServers();
    },
  };
}

/** Of several steps the one that is reached first; the others are given up then. */
function firstOf(steps: readonly HeldStep[]): HeldStep {
  const reached = Promise.race(
    steps.map(async (step) => {
      await step.reached;
      for (const other of steps) if (other !== step) other.release();
    }),
  );
  return {
    reached,
    isReached: () => steps.some((step) => step.isReached()),
    release: () => {
      for (const step of steps) step.release();
    },
    lose: () => {
      for (const step of steps) step.lose();
    },
  };
}
