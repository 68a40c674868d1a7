import { setTimeout as pause } from 'node:timers/promises';
import type { QueueStatus } from '@plant-store/platform/redis/queue-status';

/** Between two looks at the queue. */
const WATCH_MS = 2_500;
/** Jobs wait, the queue is not paused, and the worker has had none in hand for so long: it is stuck. */
const STUCK_MS = 10_000;

/** What takes creation jobs from the queue. */
export type CreationWorker = {
  /** Milliseconds without a job in hand; 0 while there is one. */
  idleMs: () => number;
  /** Takes no further job and finishes those in hand, for a bounded time. */
  close: () => Promise<void>;
};

export type KeepWorkingDeps = {
  startWorker: () => CreationWorker;
  queueStatus: () => Promise<QueueStatus>;
  now: () => number;
  on: { queueSeen: (status: QueueStatus) => void; stuck: (idleMs: number) => void };
  watchMs?: number;
  stuckMs?: number;
};

/**
 * Keeps a worker taking jobs. Blocking reads have stuck after failovers of Redis, without any error: a worker that
 * stays idle while jobs wait is replaced by a new one with connections of its own.
 */
export function keepWorking(deps: KeepWorkingDeps): { close: () => Promise<void> } {
  const { startWorker, queueStatus, now, on, watchMs = WATCH_MS, stuckMs = STUCK_MS } = deps;
  const stop = new AbortController();
  let worker = startWorker();

  async function watch(): Promise<void> {
    let waitingSince: number | undefined;
    while (!stop.signal.aborted) {
      await pause(watchMs, undefined, { signal: stop.signal }).catch(() => {});
      const status = await queueStatus().catch(() => undefined);
      if (status !== undefined) on.queueSeen(status);
      const shouldWork = status !== undefined && status.waiting > 0 && !status.paused;
      waitingSince = shouldWork ? (waitingSince ?? now()) : undefined;
      if (waitingSince === undefined || stop.signal.aborted) continue;

      const stuckForMs = Math.min(now() - waitingSince, worker.idleMs());
      if (stuckForMs < stuckMs) continue;
      on.stuck(stuckForMs);
      void worker.close().catch(() => {});
      worker = startWorker();
      waitingSince = undefined;
    }
  }

  const watching = watch();
  return {
    async close() {
      stop.abort();
      await Promise.all([watching, worker.close()]);
    },
  };
}
