import { mkdirSync } from 'node:fs';
import { Redis } from 'ioredis';
import { type ServerCommand, type ServerProcess, startServer } from './server-process.ts';

export type RedisServerOptions = {
  binary: string;
  /** Made when it is missing. */
  dataDir: string;
  port: number;
  /** Further arguments of redis-server, as `--maxmemory 50mb`. */
  args?: readonly string[];
};

/** redis-server with what waiting jobs need: an append-only file and no eviction. */
export function redisCommand({ binary, dataDir, port, args = [] }: RedisServerOptions): ServerCommand {
  const network = ['--bind', '127.0.0.1', '--port', `${port}`];
  const durable = [
    '--appendonly',
    'yes',
    '--appendfsync',
    'everysec',
    '--maxmemory-policy',
    'noeviction',
    '--save',
    '',
  ];
  return { program: binary, args: [...network, '--dir', dataDir, ...durable, ...args] };
}

export function redisUrl(port: number): string {
  return `redis://127.0.0.1:${port}`;
}

/** Resolves when the process of that pid answers as Redis and has loaded its data. */
export async function ensureRedisServes(port: number, pid: number): Promise<void> {
  const redis = new Redis({
    host: '127.0.0.1',
    port,
    lazyConnect: true,
    retryStrategy: null,
    connectTimeout: 1_000,
  });
  let refusal: Error | undefined;
  redis.on('error', (error) => {
    refusal = error;
  });
  try {
    await redis.connect();
    await redis.ping();
    const server = await redis.info('server');
    if (!server.includes(`process_id:${pid}\r\n`)) throw new Error(`another Redis answers on port ${port}`);
  } catch (error) {
    throw refusal ?? error;
  } finally {
    redis.disconnect();
  }
}

/** Starts redis-server and waits until it serves. */
export function startRedis(options: RedisServerOptions): Promise<ServerProcess> {
  const { dataDir, port } = options;
  mkdirSync(dataDir, { recursive: true });
  return startServer('redis-server', redisCommand(options), { port, url: redisUrl(port) }, (pid) =>
    ensureRedisServes(port, pid),
  );
}
