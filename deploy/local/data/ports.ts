import { join } from 'node:path';
import { freePort, listenFailure } from '../servers/free-port.ts';
import { StartError } from '../start-error.ts';
import { files, readOrCreate, replaceFile } from './data-directory.ts';

/**
 * A port that this start may listen on: the given one, or a free one for 0.
 * @param variable the setting to change when the port is taken.
 * @throws StartError when it cannot be listened on.
 */
export async function usablePort(host: string, port: number, variable: string): Promise<number> {
  const failure = await listenFailure(host, port);
  if (failure === undefined) return port === 0 ? freePort() : port;
  if (failure === 'EADDRINUSE') {
    throw new StartError(
      `port ${port} of ${host} is in use: stop what listens there, or set ${variable} to another`,
    );
  }
  throw new StartError(
    `${host}:${port} cannot be listened on (${failure}): set HOST or ${variable} to another`,
  );
}

/**
 * The ports of database and queue, the same at every start while they are free: a replica set remembers its address,
 * and so do people.
 */
export async function serverPorts(dataDir: string): Promise<{ mongod: number; redis: number }> {
  const path = join(dataDir, files.ports);
  const fresh = async () => ({ mongod: await freePort(), redis: await freePort() });
  const proposal = JSON.stringify(await fresh());
  const ports = JSON.parse(readOrCreate(path, () => proposal)) as { mongod: number; redis: number };
  for (const name of ['mongod', 'redis'] as const) {
    if ((await listenFailure('127.0.0.1', ports[name])) !== undefined) ports[name] = await freePort();
  }
  replaceFile(path, `${JSON.stringify(ports)}\n`);
  return ports;
}
