import { get } from 'node:http';
import { resolve as resolvePath } from 'node:path';
import type { Part } from '../supervisor/supervised-process.ts';

const HEALTH_MS_MAX = 1_000;
const root = resolvePath(import.meta.dirname, '../../..');

/** Settings of `npm start` itself, which mean something else to its children, and secrets only some of them need. */
const NOT_INHERITED =
  /^(?:HOST|PORT|OPS_PORT|OPS_HOST|REUSE_PORT|INSTANCE|INTERNAL_HOST|INTERNAL_PORT|MONGODB_URL|REDIS_URL|OPS_USERS|AUTH_\w+|AUDIT_ANCHOR_\w+)(?:_FILE)?$/;

/** The environment of `npm start`, without variables that would contradict those set for a child. */
export function inherited(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !NOT_INHERITED.test(name)));
}

/** Settings that a person gave for that service alone, unchanged: the service validates them. */
export function given(prefix: string): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith(prefix)));
}

/** One of our own services as a part: it serves when its internal listener says that it is ready. */
export function service(
  name: string,
  main: string,
  internalPort: number,
  env: NodeJS.ProcessEnv,
): Part & { url: string } {
  const url = `http://127.0.0.1:${internalPort}`;
  return {
    name,
    program: process.execPath,
    args: [resolvePath(root, main)],
    env: {
      ...inherited(),
      ...env,
      INSTANCE: name,
      INTERNAL_HOST: '127.0.0.1',
      INTERNAL_PORT: `${internalPort}`,
    },
    url,
    stopSignal: 'SIGTERM',
    ready: () => ready(url),
  };
}

/** Resolves when GET /readyz answers 200. It is polled often during a start, and fetch would cost too much CPU. */
export async function ready(url: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
  const request = get(`${url}/readyz`, { agent: false, timeout: HEALTH_MS_MAX }, (response) => {
    response.resume();
    resolve(response.statusCode);
  });
  request.once('timeout', () => request.destroy(new Error('/readyz does not answer')));
  request.once('error', reject);
  const status = await promise;
  if (status !== 200) throw new Error(`/readyz answers ${status}`);
}
