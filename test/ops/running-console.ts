import { opsUsers } from '../harness/ops-users.ts';
import type { Launched } from '../harness/processes/launch.ts';
import { type LogLine, launchService, startProgram } from '../harness/processes/program.ts';

export const operator = { name: 'olga', role: 'operator', password: 'correct:horse-battery' } as const;
export const viewer = { name: 'vera', role: 'viewer', password: 'looking-glass-house' } as const;

const settings = { OPS_PORT: '0', OPS_USERS: await opsUsers(operator, viewer) };

/** The console as the process that is shipped. */
export type RunningConsole = {
  url: string;
  internalUrl: string;
  pid: number;
  log: () => readonly LogLine[];
  /** Everything it wrote, to look for what must not be there. */
  output: () => string;
  /** One sample of /metrics, by its name and labels as they are printed. */
  metric: (sample: string) => Promise<number | undefined>;
  /** Resolves with the exit code. */
  ended: Promise<number | null>;
  /** Ends it by SIGTERM. */
  close: () => Promise<void>;
};

/** Runs the console with these variables until it listens. */
export async function startConsole(environment: Record<string, string>): Promise<RunningConsole> {
  const program = await startProgram('ops', { ...settings, ...environment });
  return {
    url: program.url,
    internalUrl: program.internalUrl,
    pid: program.pid,
    log: () => program.log,
    output: () => program.stdout() + program.stderr(),
    metric: async (sample) =>
      readSample(await (await fetch(`${program.internalUrl}/metrics`)).text(), sample),
    ended: program.ended.then(({ code }) => code),
    close: async () => void (await program.stop()),
  };
}

/** Starts the process and waits for nothing: for starts that are meant to fail. */
export function runConsole(environment: Record<string, string | undefined>): Launched {
  return launchService('ops', { ...settings, ...environment });
}

/** The service's own label stands on every sample and is left out of the name asked for. */
function readSample(text: string, sample: string): number | undefined {
  const name = (line: string) => line.replace(/,?service="ops"/, '').replace('{}', '');
  const line = text.split('\n').find((candidate) => name(candidate).startsWith(`${sample} `));
  return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(' ') + 1));
}
