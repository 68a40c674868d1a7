import closeWithGrace from 'close-with-grace';
import { ConfigurationError } from './configuration.ts';
import type { Logger } from './logger.ts';

/** SIGTERM to exit, at most: what an orchestrator's grace period has to exceed. */
const EXIT_MS_MAX = 10_000;

/** Something that was started and has to be stopped in order. */
export type Running = { close: () => Promise<void> };

/**
 * Runs one service process: starts it, and on SIGTERM, SIGINT or a defect closes it and exits within 10 s.
 * A service that cannot start says why in one line and exits with 1.
 */
export async function runService(
  name: string,
  start: () => Promise<{ running: Running; logger: Logger }>,
): Promise<void> {
  try {
    const { running, logger } = await start();
    const failed = {
      error: (reason: unknown) => logger.fatal({ err: reason }, 'closing failed: exiting all the same'),
    };
    closeWithGrace({ delay: EXIT_MS_MAX, logger: failed }, async ({ signal, err }) => {
      if (err === undefined) logger.info({ signal }, 'draining');
      else logger.fatal({ err }, 'a defect: closing');
      await running.close();
      logger.info('closed');
    });
  } catch (error) {
    process.stderr.write(`${name}: ${startFailure(error)}\n`);
    process.exit(1);
  }
}

function startFailure(error: unknown): string {
  if (error instanceof ConfigurationError) return error.message;
  if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') {
    return `${error.message}: choose another port or stop what listens there`;
  }
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
