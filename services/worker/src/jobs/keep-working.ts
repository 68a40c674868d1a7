import { setTimeout as pause } from 'node:timers/promises';
import type { QueueStatus } from '@plant-store/platform/redis/queue-status';

/** Interval between checks of the queue. */
const WATCH_MS = 2_500;
/** A worker is stuck when it has had no job for this long while jobs wait and the queue is not paused. */
const STUCK_MS = 10_000;

/** Takes creation jobs from the queue. */
export type CreationWorker = {
  /** Milliseconds since it last had an active job; 0 while it has one. */
  idleMs: () => number;
  /** Takes no further job and lets active ones finish, for a bounded time. */
  close: () => Promise<void>;
};

export type KeepWorkingDeps = {
  startWorker: () => CreationWorker;
  queueStatus: () => Promise<QueueStatus>;
  now: () => number;
  on: { queueSeen: () => void; stuck: (idleMs: number) => void };
  watchMs?: number;
  stuckMs?: number;
};

/**
 * Keeps a worker taking jobs. After a failover of Redis a blocking read can hang without any error, so a worker that
 * stays idle while jobs wait is replaced by a new one with new connections.
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
      if (status !== undefined) on.queueSeen();
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
