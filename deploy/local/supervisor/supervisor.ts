import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { logFile } from './log-files.ts';
import { type Part, type SupervisedProcess, supervise } from './supervised-process.ts';

export type Supervisor = {
  /** Resolves when every part serves. Rejects with the first StartError. */
  started: Promise<void>;
  processes: () => { name: string; pid: number; url?: string }[];
  /** Lets each stage drain, the last one first, and waits until all of it is gone. */
  stop: () => Promise<void>;
};

/**
 * Starts all parts at once, since each waits for what it needs, and keeps them running.
 * @param stages parts in the order in which they depend on each other; they stop the other way round.
 */
export function startSupervisor(
  stages: readonly (readonly Part[])[],
  { logs, say, changed }: { logs: string; say: (line: string) => void; changed: () => void },
): Supervisor {
  const open: Writable[] = [];
  const started: SupervisedProcess[][] = stages.map((parts) =>
    parts.map((part) => {
      const log = logFile(logs, part.name, say);
      open.push(log);
      return supervise(part, { log, say, changed });
    }),
  );
  const all = started.flat();
  return {
    started: Promise.all(all.map((process) => process.started)).then(() => undefined),
    processes: () =>
      all.map(({ part: { name, url }, pid }) => ({ name, pid: pid(), ...(url !== undefined && { url }) })),
    stop: async () => {
      for (const stage of started.toReversed()) await Promise.all(stage.map((process) => process.stop()));
      await Promise.all(open.map((log) => finished(log.end())));
    },
  };
}
