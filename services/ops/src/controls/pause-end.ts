import { CREATIONS_QUEUE } from '@plant-store/contracts/creation-job';
import type { Logger } from '@plant-store/platform/process/logger';
import { isConnectionLost } from '@plant-store/platform/redis/redis';
import type { Redis } from 'ioredis';
import type { Control } from './control.ts';
import type { OperatorAudit } from './operator-audit.ts';
import { readPause } from './pause-record.ts';

const PERIOD_MS = 1_000;

/** Resumes the queue when a pause ends, also a pause that began before the console restarted. */
export function endPauses(
  {
    redis,
    prefix,
    resume,
    audit,
    instance,
  }: {
    redis: Redis;
    prefix: string;
    resume: Control;
    audit: OperatorAudit;
    instance: string;
  },
  logger: Logger,
): Disposable {
  let busy = false;

  async function check(): Promise<void> {
    if (busy || redis.status !== 'ready') return;
    busy = true;
    try {
      // When Redis does not answer, the status reader logs it.
      const pause = await readPause(redis, prefix).catch(() => undefined);
      if (pause === undefined || pause.until.getTime() > Date.now()) return;
      const reason = `the pause of ${pause.by} reached its end`;
      const outcome = await resume.apply({ by: 'ops', reason, minutes: 0, matching: '' });
      // The audit log logs an entry that it cannot seal.
      await audit
        .record({
          ...outcome,
          outcome: 'done',
          target: CREATIONS_QUEUE,
          reason,
          who: { sub: 'ops' },
          from: { address: '', request: '', instance },
        })
        .catch(() => {});
    } catch (error) {
      if (isConnectionLost(error)) return;
      logger.warn(
        { reason: (error as Error).message },
        'a pause that reached its end could not be ended: trying again',
      );
    } finally {
      busy = false;
    }
  }

  const timer = setInterval(check, PERIOD_MS);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
