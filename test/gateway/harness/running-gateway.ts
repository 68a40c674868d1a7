import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@plant-store/local/servers/free-port';
import {
  type GatewayOptions,
  gatewayCommand,
  nginxVersion,
} from '../../../deploy/gateway/gateway-command.ts';
import { launch } from '../../harness/processes/launch.ts';
import { waitFor } from '../../harness/wait-for.ts';
import type { MemoryGroup } from './memory-group.ts';

const READY_MS_MAX = 10_000;
const LOSSES_OF_A_PORT_MAX = 3;
/** For requests that a test left unanswered. */
const DRAIN_MS_MAX = 2_000;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Undefined where nginx is not installed: the suites of this folder are then skipped, and say so; CI fails. */
export const installedNginx = await nginxVersion();
if (installedNginx === undefined) {
  if (process.env['CI'] === 'true') throw new Error('nginx is not installed');
  process.stderr.write('test/gateway: skipped, nginx is not installed\n');
}

/** The real gateway, as `npm start` runs it. */
export type RunningGateway = AsyncDisposable & {
  port: number;
  tlsPort: number;
  url: string;
  internalUrl: string;
  signal: (signal: NodeJS.Signals) => void;
  /** Resolves with the exit code. */
  ended: Promise<number | null>;
  /** What it wrote to standard error. */
  errors: () => string;
  /** The lines of the access log, which nginx writes with up to 1 s delay, once `enough` is true of them. */
  accessLog: (enough: (lines: AccessLine[]) => boolean) => Promise<AccessLine[]>;
};

export type AccessLine = { status: number; reqId: string; seconds: number } & Record<string, unknown>;

type Given = Pick<GatewayOptions, 'upstreams' | 'settings'> & {
  /** The upstreams themselves, when absent. */
  readinessUpstreams?: readonly string[];
  certificates?: string;
  /** Its memory is limited to that. */
  memory?: MemoryGroup;
};

export async function startGateway(given: Given): Promise<RunningGateway> {
  for (let attempt = 1; ; attempt++) {
    const started = await tryStart(given);
    if (typeof started !== 'string') return started;
    if (attempt === LOSSES_OF_A_PORT_MAX || !started.includes('bind()')) throw new Error(started);
  }
}

/** The running gateway, or what it wrote before it gave up. */
async function tryStart({
  upstreams,
  readinessUpstreams = upstreams,
  settings,
  certificates,
  memory,
}: Given): Promise<RunningGateway | string> {
  const directory = await mkdtemp(join(tmpdir(), 'gateway-'));
  const [port, internalPort, tlsPort] = await Promise.all([freePort(), freePort(), freePort()]);
  const host = '127.0.0.1';
  const { command, args, env, stopSignal } = gatewayCommand({
    listen: { host, port },
    internal: { host, port: internalPort },
    upstreams,
    readinessUpstreams,
    directory,
    ...(certificates !== undefined && {
      tls: { directory: certificates, listen: { host, port: tlsPort } },
    }),
    settings: { GATEWAY_LOG: 'all', ...settings },
  });
  const [program, ...parameters] =
    memory === undefined
      ? [command, ...args]
      : ['sh', '-c', `${memory.join}; exec "$@"`, 'sh', command, ...args];
  const nginx = launch(program, parameters, { environment: env });
  let hasEnded = false;
  const ended = nginx.ended.then(({ code }) => {
    hasEnded = true;
    return code;
  });
  const internalUrl = `http://${host}:${internalPort}`;

  const end = async () => {
    nginx.signal(stopSignal);
    const drained = setTimeout(() => nginx.signal('SIGTERM'), DRAIN_MS_MAX);
    await ended;
    clearTimeout(drained);
    await rm(directory, { recursive: true });
  };
  const state = await waitFor(
    async () => {
      if (hasEnded) return 'ended';
      return (await fetch(`${internalUrl}/livez`)).ok && 'serving';
    },
    { withinMs: READY_MS_MAX, what: 'the gateway serves' },
  );
  if (state === 'ended') {
    await rm(directory, { recursive: true });
    return nginx.stderr();
  }
  return {
    port,
    tlsPort,
    url: `http://${host}:${port}`,
    internalUrl,
    signal: nginx.signal,
    ended,
    errors: nginx.stderr,
    accessLog: (enough) =>
      waitFor(
        async () => {
          const text = utf8.decode(await readFile(join(directory, 'access.log')));
          const lines = text
            .split('\n')
            .filter(Boolean)
            .map((line) => JSON.parse(line) as AccessLine);
          if (enough(lines)) return lines;
          throw new Error(`${lines.length} lines, the last ${JSON.stringify(lines.at(-1))}`);
        },
        { withinMs: 5_000, what: 'the access log holds it' },
      ),
    [Symbol.asyncDispose]: end,
  };
}
