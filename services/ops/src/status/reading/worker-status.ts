import type { WorkerReport } from '@plant-store/contracts/process-report';
import type { Seen } from '@plant-store/platform/redis/heartbeats';

/** Five reports missed: the process hangs, is stopped, or has lost its connection to Redis. */
const SILENT_MS = 10_000;
const STARTS_COUNTED_MS = 5 * 60_000;

/**
 * `working`: it reports, with active jobs. `idle`: it reports, without any. `silent`: it is connected but no longer
 * reports. `gone`: it neither reports nor is connected, and it did not shut down in order.
 */
export type WorkerState = 'working' | 'idle' | 'silent' | 'gone';

export type WorkerStatus = {
  name: string;
  version: string;
  state: WorkerState;
  upMs: number;
  jobsInHand: number;
  batches: number;
  /** Since the last batch it reported, or since its start when there was none. */
  sinceProgressMs: number;
  /** Since its last report. */
  sinceReportMs: number;
  /** How often a process of this name started within the last 5 minutes. */
  recentStarts: number;
};

/** The parts of a worker's report that its status is made of. */
type Heartbeat = Seen<
  Pick<WorkerReport, 'name' | 'version' | 'upMs' | 'jobsInHand' | 'batches' | 'sinceBatchMs'>
>;

/** Every worker that reports or should report, by name. */
export function workersOf(
  heartbeats: readonly Heartbeat[],
  isConnected: (name: string) => boolean,
): WorkerStatus[] {
  const byName = Map.groupBy(heartbeats, ({ name }) => name);
  const workers = [...byName.values()].flatMap((processes) => {
    const recentStarts = processes.filter(({ upMs, ageMs }) => upMs + ageMs <= STARTS_COUNTED_MS).length;
    return current(processes).map((process) => statusOf(process, isConnected(process.name), recentStarts));
  });
  return workers.sort((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }));
}

/** The running processes of one name; when none runs, the last one, unless it shut down in order. */
function current(processes: readonly Heartbeat[]): Heartbeat[] {
  const running = processes.filter(({ ended, ageMs }) => !ended && ageMs <= SILENT_MS);
  if (running.length > 0) return running;
  const last = processes.reduce((latest, process) => (process.ageMs < latest.ageMs ? process : latest));
  return last.ended ? [] : [last];
}

function statusOf(heartbeat: Heartbeat, connected: boolean, recentStarts: number): WorkerStatus {
  const { name, version, upMs, jobsInHand, batches, sinceBatchMs, ageMs } = heartbeat;
  const alive = jobsInHand > 0 ? 'working' : 'idle';
  return {
    name,
    version,
    state: ageMs <= SILENT_MS ? alive : connected ? 'silent' : 'gone',
    upMs: upMs + ageMs,
    jobsInHand,
    batches,
    sinceProgressMs: (sinceBatchMs ?? upMs) + ageMs,
    sinceReportMs: ageMs,
    recentStarts,
  };
}
