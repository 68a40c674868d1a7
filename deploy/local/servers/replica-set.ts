import { once } from 'node:events';
import { connect } from 'node:net';
import { type Document, MongoClient, MongoServerError } from 'mongodb';

/** The server has no replica set configuration yet. */
const NOT_YET_INITIALIZED = 94;
const CONNECT_MS_MAX = 1_000;

export type ReplicaSet = {
  name: string;
  /** host:port of every member, the first of which is asked. */
  hosts: readonly string[];
  /** How long members miss a primary before they elect another. */
  electionTimeoutMs?: number;
};

/**
 * One step towards a replica set with a primary, to be repeated until it resolves. It initiates a new set, and
 * reconfigures one that was created with other addresses (a replica set stores host and port).
 * @throws Error saying what is still missing.
 */
export async function ensurePrimary(replicaSet: ReplicaSet): Promise<void> {
  await asked(replicaSet.hosts[0] as string, async (admin) => {
    const hello = await admin({ hello: 1 });
    const known: string[] = hello['hosts'] ?? [];
    if (hello['setName'] === undefined || !replicaSet.hosts.every((host) => known.includes(host))) {
      await configure(replicaSet, admin);
    }
    if (known.length === 0 || hello['primary'] === undefined)
      throw new Error('the replica set has no primary yet');
  });
}

/** Resolves when the server at host:port answers commands and is the process of that pid. */
export async function ensureAnswers(host: string, pid: number): Promise<void> {
  await asked(host, async (admin) => {
    const status = await admin({ serverStatus: 1, ...withoutSections });
    if (Number(status['pid']) !== pid)
      throw new Error(`another mongod (pid ${status['pid']}) answers at ${host}`);
  });
}

/** Sections of serverStatus that are not needed: the pid is a top-level field. */
const withoutSections = { metrics: 0, tcmalloc: 0, locks: 0, wiredTiger: 0, repl: 0 };

type Admin = (command: Record<string, unknown>) => Promise<Document>;

async function asked(host: string, ask: (admin: Admin) => Promise<unknown>): Promise<void> {
  await listens(host);
  const client = new MongoClient(`mongodb://${host}/?directConnection=true`, {
    serverSelectionTimeoutMS: CONNECT_MS_MAX,
    connectTimeoutMS: CONNECT_MS_MAX,
    socketTimeoutMS: 10_000,
  });
  try {
    await ask((command) => client.db('admin').command(command));
  } finally {
    await client.close();
  }
}

async function configure({ name, hosts, electionTimeoutMs }: ReplicaSet, admin: Admin): Promise<void> {
  const members = hosts.map((host, _id) => ({ _id, host }));
  const settings =
    electionTimeoutMs === undefined ? {} : { settings: { electionTimeoutMillis: electionTimeoutMs } };
  try {
    const { config } = await admin({ replSetGetConfig: 1 });
    const version = config.version + 1;
    await admin({ replSetReconfig: { ...config, version, members }, force: true });
  } catch (error) {
    if (!(error instanceof MongoServerError) || error.code !== NOT_YET_INITIALIZED) throw error;
    await admin({ replSetInitiate: { _id: name, members, ...settings } });
  }
}

/** Checked first, so that a refused connection is retried at once; the driver would wait half a second. */
async function listens(host: string): Promise<void> {
  const [name, port] = host.split(':');
  const socket = connect({ host: name as string, port: Number(port) });
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(CONNECT_MS_MAX) });
  } finally {
    socket.destroy();
  }
}
