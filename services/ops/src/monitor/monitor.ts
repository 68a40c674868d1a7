import type { Logger } from '@plant-store/platform/process/logger';
import { createDiagnosis, type LastingFinding } from '../findings/diagnose.ts';
import type { StatusReader, SystemStatus } from '../status/status.ts';
import { createPace, type Pace } from './pace.ts';

const PERIOD_MS = 2_000;

/** One reading of the system, with what follows from it and the earlier ones. */
export type Observation = {
  status: SystemStatus;
  findings: LastingFinding[];
  pace: Pace | undefined;
};

export type Monitor = Disposable & {
  /** The newest observation; at most a second old. */
  current: () => Promise<Observation>;
};

/**
 * Reads the system every 2 s, also when no page is open, so that it knows since when something is wrong.
 * @param observed is given every observation once, in order; what it throws is logged
 */
export function startMonitor(
  readStatus: StatusReader,
  observed: (observation: Observation) => void,
  logger: Pick<Logger, 'error'>,
): Monitor {
  const diagnose = createDiagnosis();
  const paceOf = createPace();
  let latest: Observation | undefined;

  async function current(): Promise<Observation> {
    const status = await readStatus();
    if (latest?.status !== status) {
      latest = { status, findings: diagnose(status), pace: paceOf(status) };
      try {
        observed(latest);
      } catch (err) {
        logger.error({ err }, 'a reading of the system could not be added to the history');
      }
    }
    return latest;
  }

  const timer = setInterval(() => {
    current().catch((err: unknown) => logger.error({ err }, 'the system could not be judged'));
  }, PERIOD_MS);
  return { current, [Symbol.dispose]: () => clearInterval(timer) };
}
