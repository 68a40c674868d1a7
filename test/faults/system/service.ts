import { freePort } from '@plant-store/local/servers/free-port';
import { type HttpProxy, httpProxy } from '../../harness/network/http-proxy.ts';
import { type RedisProxy, redisProxy } from '../../harness/network/redis-proxy.ts';
import type { HeldStep, Step } from '../../harness/network/steps.ts';
import { type Program, startProgram } from '../../harness/processes/program.ts';
import { waitFor } from '../../harness/wait-for.ts';
import type { Database, DatabaseLink } from './database.ts';

const shiftedClock = import.meta.resolve('../../harness/processes/shifted-clock.js');
const READY_MS_MAX = 20_000;
/** How long SIGTERM may take (L5), with room for a machine that is busy with other things. */
const EXIT_MS_MAX = 11_000;
/** Of what a process that crashed wrote to standard error, the end. */
const STDERR_CHARACTERS = 500;

/** One process of the product, with its links: what an orchestrator would restart, and a fault may kill. */
export type Service = {
  name: string;
  kind: 'api' | 'worker';
  /** Where clients reach it: through `clients` where it has such a link. */
  url: string;
  port: number;
  internalPort: number;
  /** Where its inspector listens after SIGUSR1. */
  inspectorPort: number;
  database: DatabaseLink;
  redis: RedisProxy;
  /** The link of its clients; a worker has none. */
  clients?: HttpProxy;
  /** The process at present; undefined while it is down. */
  program: () => Program | undefined;
  signal: (signal: NodeJS.Signals) => void;
  /** kill -9, and waits until it is gone. */
  kill: () => Promise<void>;
  /** Starts it, unless it runs; `environment` replaces single settings from now on. */
  start: (environment?: Readonly<Record<string, string>>) => Promise<void>;
  /** Its clock is wrong by that much from its next start on. */
  shiftClock: (offsetMs: number) => void;
  /** SIGTERM. Returns what speaks against a clean exit (L5) of this or an earlier run of it, if anything. */
  stop: () => Promise<string | undefined>;
  /** Whether it says that it can be given work. */
  isReady: () => Promise<boolean>;
  ready: () => Promise<void>;
  hold: (step: Omit<Step, 'client'>) => HeldStep;
  close: () => Promise<void>;
};

export type ServiceOptions = {
  name: string;
  kind: 'api' | 'worker';
  database: Database;
  redisPort: number;
  environment: Readonly<Record<string, string>>;
  /** The tree whose sources run. */
  tree?: string;
};

export async function createService(options: ServiceOptions): Promise<Service> {
  const { name, kind, tree } = options;
  const database = await options.database.link();
  const redis = await redisProxy(options.redisPort);
  const [port, internalPort, inspectorPort] = await Promise.all([freePort(), freePort(), freePort()]);
  const clients = kind === 'api' ? await httpProxy(port) : undefined;
  // The inspector is opened by SIGUSR1 only: a fault blocks the event loop through it.
  const inspector = `--inspect-port=127.0.0.1:${inspectorPort}`;
  let environment: Record<string, string> = {
    MONGODB_URL: database.url,
    REDIS_URL: redis.url,
    INSTANCE: name,
    PORT: String(port),
    INTERNAL_PORT: String(internalPort),
    NODE_OPTIONS: inspector,
    ...options.environment,
  };
  let program: Program | undefined;
  /** The first exit that was not clean: a crash, or one that SIGTERM did not bring about in time. */
  let unclean: string | undefined;
  let starting: Promise<Program> | undefined;

  const isReady = async () => (await fetch(`http://127.0.0.1:${internalPort}/readyz`)).status === 200;

  async function kill(): Promise<void> {
    const killed = program;
    program = undefined;
    if (killed === undefined) return;
    killed.signal('SIGKILL');
    await killed.ended;
  }

  async function stop(): Promise<string | undefined> {
    const stopped = program;
    program = undefined;
    if (stopped === undefined) return unclean;
    const began = performance.now();
    stopped.signal('SIGCONT');
    const late = setTimeout(() => stopped.signal('SIGKILL'), EXIT_MS_MAX);
    const code = await stopped.stop();
    clearTimeout(late);
    const ms = Math.round(performance.now() - began);
    if (code !== 0) unclean ??= `${name} ended with ${code ?? 'SIGKILL'} ${ms} ms after SIGTERM`;
    return unclean;
  }

  return {
    name,
    kind,
    url: clients?.url ?? '',
    port,
    internalPort,
    inspectorPort,
    database,
    redis,
    ...(clients !== undefined && { clients }),
    program: () => program,
    signal: (signal) => program?.signal(signal),
    kill,
    start: async (changed = {}) => {
      environment = { ...environment, ...changed };
      if (program !== undefined) return;
      starting ??= startProgram(kind, environment, tree).finally(() => {
        starting = undefined;
      });
      const started = await starting;
      program = started;
      void started.ended.then(({ code, stderr }) => {
        if (program !== started) return;
        program = undefined;
        unclean ??= `${name} ended by itself with ${code ?? 'a signal'}: ${stderr.slice(-STDERR_CHARACTERS)}`;
      });
    },
    shiftClock: (offsetMs) => {
      environment['CLOCK_OFFSET_MS'] = String(offsetMs);
      environment['NODE_OPTIONS'] = `${inspector} --import=${shiftedClock}`;
    },
    stop,
    isReady,
    ready: async () => {
      await waitFor(isReady, { withinMs: READY_MS_MAX, what: `${name} is ready` });
    },
    hold: (step) => database.hold({ ...step, client: `plant-store-${kind}` }),
    close: async () => {
      await kill();
      await Promise.all([redis.close(), clients?.close()]);
    },
  };
}
