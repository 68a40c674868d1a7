import { mkdirSync } from 'node:fs';
import { ensureAnswers, ensurePrimary } from './replica-set.ts';
import { type ServerCommand, type ServerProcess, startServer } from './server-process.ts';
import { untilResolved } from './until-resolved.ts';

export type MongodOptions = {
  binary: string;
  /** Made when it is missing. */
  dataDir: string;
  port: number;
  /** Further arguments of mongod, as `--setParameter enableTestCommands=1`. */
  args?: readonly string[];
};

const REPLICA_SET = 'plantstore';
const PRIMARY_MS_MAX = 30_000;

/**
 * A shutdown waits for no other member: with the default, every stop would take up to 15 s longer. No history of
 * updated pages is kept: nothing here reads at a past time, and the default of 5 minutes costs a third more CPU per
 * plant.
 */
const parameters = ['shutdownTimeoutMillisForSignaledShutdown=100', 'minSnapshotHistoryWindowInSeconds=0'];

/** mongod as a member of a replica set: majority acknowledgement and change of primary exist nowhere else. */
export function mongodCommand({ binary, dataDir, port, args = [] }: MongodOptions): ServerCommand {
  const network = ['--bind_ip', '127.0.0.1', '--port', `${port}`, '--nounixsocket'];
  const settings = parameters.flatMap((parameter) => ['--setParameter', parameter]);
  return {
    program: binary,
    args: ['--replSet', REPLICA_SET, '--dbpath', dataDir, ...network, ...settings, ...args],
  };
}

/** Where a replica set of one on that port is reached. */
export function mongodUrl(...ports: readonly number[]): string {
  return `mongodb://${ports.map(hostOf).join(',')}/?replicaSet=${REPLICA_SET}`;
}

/** One step towards a replica set of one with this process as primary; to be repeated until it resolves. */
export async function ensureMongodPrimary(port: number, pid: number): Promise<void> {
  await ensureAnswers(hostOf(port), pid);
  await ensurePrimary({ name: REPLICA_SET, hosts: [hostOf(port)] });
}

/** Starts mongod as a replica set of one and waits until it is primary. */
export function startMongod(options: MongodOptions): Promise<ServerProcess> {
  return start(options, (pid) => ensureMongodPrimary(options.port, pid));
}

/** Starts mongod as one member of a set that others configure, and waits until it answers. */
export function startMember(options: MongodOptions): Promise<ServerProcess> {
  return start(options, (pid) => ensureAnswers(hostOf(options.port), pid));
}

/**
 * Starts one mongod per entry as one replica set and waits until it has a primary.
 * @param electionTimeoutMs how long members miss a primary before they elect another (mongod's default is 10 s).
 * @param ports where clients and the other members reach them, if something lies between.
 */
export async function startReplicaSet(
  members: readonly MongodOptions[],
  electionTimeoutMs: number,
  ports: readonly number[] = members.map(({ port }) => port),
): Promise<{ url: string; members: ServerProcess[] }> {
  const replicaSet = { name: REPLICA_SET, hosts: ports.map(hostOf), electionTimeoutMs };
  const started: ServerProcess[] = [];
  try {
    for (const member of members) started.push(await startMember(member));
    await untilResolved(() => ensurePrimary(replicaSet), {
      withinMs: PRIMARY_MS_MAX,
      what: 'the replica set has a primary',
    });
    return { url: mongodUrl(...ports), members: started };
  } catch (error) {
    await Promise.all(started.map((member) => member.kill()));
    throw error;
  }
}

function start(options: MongodOptions, ready: (pid: number) => Promise<void>): Promise<ServerProcess> {
  const { dataDir, port } = options;
  mkdirSync(dataDir, { recursive: true });
  return startServer('mongod', mongodCommand(options), { port, url: mongodUrl(port) }, ready);
}

function hostOf(port: number): string {
  return `127.0.0.1:${port}`;
}
