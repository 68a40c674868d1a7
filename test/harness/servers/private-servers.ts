import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serverBinary } from '@plant-store/local/servers/binaries/server-binary';
import { freePort } from '@plant-store/local/servers/free-port';
import { startMember, startMongod, startReplicaSet } from '@plant-store/local/servers/mongod';
import { startRedis } from '@plant-store/local/servers/redis-server';
import type { ServerProcess } from '@plant-store/local/servers/server-process';
import { untilStopped } from '../processes/stopped.ts';
import { testMongodArgs } from './local-servers.ts';

/**
 * A server of one test's own, to be stopped, killed and started again at will. Whoever asks for it closes it
 * (`await using`, or `afterAll(server.close)`); one that is left running fails the file.
 */
export type PrivateServer = AsyncDisposable & {
  url: string;
  port: number;
  dataDir: string;
  pid: () => number;
  /** Sends a signal; after SIGSTOP it returns once no thread of the server runs any more. */
  signal: (signal: NodeJS.Signals) => void;
  stop: () => Promise<void>;
  kill: () => Promise<void>;
  /** Starts it again on the same port and data, after `stop` or `kill`, and waits until it serves. */
  start: () => Promise<void>;
  /** Ends it and deletes its data. */
  close: () => Promise<void>;
};

const silent = () => {};
/** With less, members of a busy machine elect another primary though none has failed. */
const ELECTION_TIMEOUT_MS = 5_000;

/** A mongod as a replica set of one. For hooks and tests of a file that calls `needsServers`. */
export async function privateMongod(args: readonly string[] = []): Promise<PrivateServer> {
  const options = {
    binary: await serverBinary('mongod', silent),
    args: [...testMongodArgs, ...args],
    ...(await place()),
  };
  const start = () => startMongod(options);
  return restartable(options.dataDir, await start(), start);
}

/** A Redis with AOF and noeviction. */
export async function privateRedis(args: readonly string[] = []): Promise<PrivateServer> {
  const options = { binary: await serverBinary('redis-server', silent), args, ...(await place()) };
  const start = () => startRedis(options);
  return restartable(options.dataDir, await start(), start);
}

/**
 * Three members of one replica set. `start` waits for no primary.
 * @param electionTimeoutMs the time without a primary after which they elect another one
 * @param portBefore makes what clients and the other members are to go through to reach a port, and returns its port.
 */
export async function privateReplicaSet({
  electionTimeoutMs = ELECTION_TIMEOUT_MS,
  portBefore = (port) => port,
}: {
  electionTimeoutMs?: number;
  portBefore?: (port: number) => number | Promise<number>;
} = {}): Promise<AsyncDisposable & { url: string; members: PrivateServer[]; close: () => Promise<void> }> {
  const binary = await serverBinary('mongod', silent);
  const places = [await place(), await place(), await place()];
  const options = places.map((at) => ({ binary, args: testMongodArgs, ...at }));
  const ports = await Promise.all(places.map(({ port }) => portBefore(port)));
  const started = await startReplicaSet(options, electionTimeoutMs, ports);
  const members = options.map((member, index) =>
    restartable(member.dataDir, started.members[index] as ServerProcess, () => startMember(member)),
  );
  const close = async () => {
    await Promise.all(members.map((member) => member.close()));
  };
  return { url: started.url, members, close, [Symbol.asyncDispose]: close };
}

export async function place(): Promise<{ dataDir: string; port: number }> {
  return { dataDir: await mkdtemp(join(tmpdir(), 'plant-store-test-')), port: await freePort() };
}

export function restartable(
  dataDir: string,
  first: ServerProcess,
  start: () => Promise<ServerProcess>,
): PrivateServer {
  let current = first;
  const close = async () => {
    await current.kill();
    await rm(dataDir, { recursive: true, force: true });
  };
  return {
    url: first.url,
    port: first.port,
    dataDir,
    pid: () => current.pid,
    signal: (signal) => {
      current.signal(signal);
      if (signal === 'SIGSTOP') untilStopped(current.pid);
    },
    stop: () => current.stop(),
    kill: () => current.kill(),
    start: async () => {
      current = await start();
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
