import type { Logger } from './logger.ts';
import { reasonOf } from './reason.ts';

export type OutageLog = { fails: (reason: unknown) => void; works: () => void; failing: () => boolean };

/** One line when something begins to fail and one when it works again, however often it fails in between. */
export function outageLog(logger: Logger, lines: { began: string; ended: string }): OutageLog {
  let since: number | undefined;
  return {
    fails(reason) {
      if (since !== undefined) return;
      since = performance.now();
      logger.warn({ reason: reasonOf(reason) }, lines.began);
    },
    works() {
      if (since === undefined) return;
      logger.info({ outageMs: Math.round(performance.now() - since) }, lines.ended);
      since = undefined;
    },
    failing: () => since !== undefined,
  };
}
