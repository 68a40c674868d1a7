import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { logFile, rotateOwnLog } from './log-files.ts';
import { type Part, supervise } from './supervised-process.ts';

export type RunningProcess = { name: string; pid: number; url?: string };

export type Supervisor = {
  /** Resolves when every part serves. Rejects with the first StartError. */
  started: Promise<void>;
  /** Lets each stage drain, the last one first, and waits until all of it is gone. */
  stop: () => Promise<void>;
};

type Watcher = {
  /** The directory of the log files. */
  logs: string;
  /** Is given a line for the person in front of the terminal. */
  tell: (line: string) => void;
  /** Is given all processes whenever one was started. */
  changed: (processes: RunningProcess[]) => void;
};

/**
 * Starts all parts at once, since each waits for what it needs, and keeps them running.
 * @param stages parts in the order in which they depend on each other; they stop the other way round.
 */
export function startSupervisor(
  stages: readonly (readonly Part[])[],
  { logs, tell, changed }: Watcher,
): Supervisor {
  const open: Writable[] = [];
  const rotations: (() => void)[] = [];
  const running = new Map<string, RunningProcess>();

  const supervised = stages.map((parts) =>
    parts.map((part) => {
      const log = logFile(logs, part.name, tell);
      open.push(log);
      const { name, url, ownLog } = part;
      if (ownLog !== undefined) rotations.push(rotateOwnLog(ownLog, () => running.get(name)?.pid));
      const launched = (pid: number) => {
        running.set(name, { name, pid, ...(url !== undefined && { url }) });
        changed([...running.values()]);
      };
      return supervise(part, { log, tell, launched });
    }),
  );
  return {
    started: Promise.all(supervised.flat().map(({ started }) => started)).then(() => undefined),
    stop: async () => {
      for (const stage of supervised.toReversed()) await Promise.all(stage.map(({ stop }) => stop()));
      for (const end of rotations) end();
      await Promise.all(open.map((log) => finished(log.end())));
    },
  };
}
