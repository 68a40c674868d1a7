import { join, resolve } from 'node:path';
import { waitFor } from '../wait-for.ts';
import { type Launched, launch } from './launch.ts';

const root = resolve(import.meta.dirname, '../../..');
const START_MS_MAX = 30_000;

export type LogLine = { msg: string } & Record<string, unknown>;

/** A service as a process of its own, as `npm start` and containers run it. */
export type Program = Omit<Launched, 'stop'> & {
  /** Where it listens, as its log says. */
  url: string;
  internalUrl: string;
  /** The log lines so far. */
  readonly log: readonly LogLine[];
  /** The value of a metric with these labels (`outcome="done"`), 0 where no such label was counted yet. */
  metric: (name: string, labels?: string) => Promise<number>;
  /** SIGTERM, then its exit code. */
  stop: () => Promise<number | null>;
};

/** Starts a service and waits for nothing: for starts that are meant to fail. @param tree where its sources are */
export function launchService(
  service: 'api' | 'worker' | 'ops',
  environment: Record<string, string | undefined>,
  tree: string = root,
): Launched {
  return launch('node', [join('services', service, 'src/main.ts')], { cwd: tree, environment });
}

/**
 * Starts a service and waits until it listens.
 * @throws Error with what it wrote to standard error when it ends instead.
 */
export async function startProgram(
  service: 'api' | 'worker' | 'ops',
  environment: Record<string, string>,
  tree: string = root,
): Promise<Program> {
  const launched = launchService(service, { PORT: '0', ...environment }, tree);
  const log = () => logLines(launched.stdout());
  let failure: Error | undefined;
  void launched.ended.then(({ code, stderr }) => {
    failure = new Error(`the ${service} ended with ${code}: ${stderr}`);
  });
  const listening = await waitFor(() => failure ?? log().find(({ msg }) => msg === 'listening'), {
    withinMs: START_MS_MAX,
    what: `the ${service} listens`,
  });
  if (listening instanceof Error) throw listening;
  const internalUrl = String(listening['internal']);
  return {
    ...launched,
    url: String(listening['url']),
    internalUrl,
    get log() {
      return log();
    },
    metric: (name, labels) => readMetric(internalUrl, name, labels),
    stop: async () => (await launched.stop()).code,
  };
}

/** The whole lines of a log that are JSON. */
function logLines(text: string): LogLine[] {
  const lines = text.slice(0, text.lastIndexOf('\n') + 1).split('\n');
  return lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as LogLine);
}

/**
 * The value of a metric that a process exports, with these labels, 0 where no such label was counted yet.
 * @throws Error when the process has no metric of that name
 */
export async function readMetric(internalUrl: string, name: string, labels = ''): Promise<number> {
  const text = await (await fetch(`${internalUrl}/metrics`)).text();
  const family = name.replace(/_(?:count|sum|bucket)$/, '');
  if (![name, family].some((each) => text.includes(`# TYPE ${each} `))) {
    throw new Error(`${internalUrl} has no metric ${name}`);
  }
  const line = text.split('\n').find((each) => each.startsWith(`${name}{`) && each.includes(labels));
  return Number(line?.split(' ').at(-1) ?? 0);
}
