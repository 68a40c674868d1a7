import { readFileSync } from 'node:fs';
import { untilResolved } from '../servers/until-resolved.ts';
import { StartError } from '../start-error.ts';
import { replaceFile } from './data-directory.ts';
import { type ProcessEntry, processTable } from './process-table.ts';

const GONE_MS_MAX = 10_000;

/** The process of `npm start` and what it has started, so that the next one can end what a killed one left running. */
export type ProcessRecord = { start: number; children: Child[] };

/** Each leads a process group. */
type Child = Pick<ProcessEntry, 'pid' | 'since'>;

/** @param path `DATA_DIR/processes.json`; only who holds the lock of DATA_DIR writes it. */
export function recordProcesses(path: string, pids: readonly number[]): void {
  const children = processTable()
    .filter(({ pid }) => pids.includes(pid))
    .map(({ pid, since }) => ({ pid, since }));
  writeRecord(path, children);
}

/**
 * Ends the processes that an earlier start has left running, and waits until they are gone: otherwise its database
 * would lock the data, and its listeners would hold the ports.
 * @returns how many processes there were.
 * @throws StartError when they do not end.
 */
export async function endRecordedProcesses(path: string): Promise<number> {
  const { children } = readRecord(path);
  writeRecord(path, children);
  const left = processTable().filter((process) =>
    children.some(({ pid, since }) => process.pid === pid && process.since === since),
  );
  for (const { pid } of left) endGroup(pid);

  const groups = left.map(({ pid }) => pid);
  const gone = async () => {
    const living = processTable().filter(({ group }) => groups.includes(group));
    if (living.length > 0) throw new StartError(`pids ${living.map(({ pid }) => pid).join(', ')}`);
  };
  try {
    await untilResolved(gone, { withinMs: GONE_MS_MAX, what: 'gone' });
  } catch (error) {
    const { message } = (error as Error).cause as Error;
    throw new StartError(`a killed start has left processes that do not end (${message}): end them by hand`);
  }
  return left.length;
}

/** An unreadable record counts as empty. */
export function readRecord(path: string): ProcessRecord {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as ProcessRecord;
  } catch {
    return { start: 0, children: [] };
  }
}

function writeRecord(path: string, children: Child[]): void {
  replaceFile(path, JSON.stringify({ start: process.pid, children } satisfies ProcessRecord));
}

function endGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL');
  } catch {
    // It has ended meanwhile.
  }
}
