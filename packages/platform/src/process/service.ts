import closeWithGrace from 'close-with-grace';
import type { Logger, LogLevel } from './logger.ts';
import { reasonOf } from './reason.ts';

/** The longest time from SIGTERM to exit. An orchestrator's grace period must be longer. */
const EXIT_MS_MAX = 10_000;

/** Something that was started and has to be stopped in order. */
export type Running = { close: () => Promise<void> };

type Service<Config, Secrets> = {
  /** @throws ConfigurationError */
  readConfig: (environment: NodeJS.ProcessEnv) => { config: Config; secrets: Secrets };
  /** `stopping` is aborted when a signal arrives during the start. When it rejects, it has closed what it opened. */
  start: (config: Config, secrets: Secrets, logger: Logger, stopping: AbortSignal) => Promise<Running>;
};

/**
 * Runs one service process. SIGTERM, SIGINT or a defect closes it, and it exits within 10 s. After a signal the exit
 * code is 0, also if the signal arrives during the start. A service that cannot start says why in one line and exits
 * with 1.
 * @param load imports the service. Loading its modules is most of a start, so signal handlers are set before.
 */
export async function runService<Config extends { instance: string; logLevel: LogLevel }, Secrets>(
  name: string,
  load: () => Promise<Service<Config, Secrets>>,
): Promise<void> {
  const stopping = new AbortController();
  let logger: Logger | undefined;
  let starting: Promise<Running> | undefined;

  const failed = {
    error: (reason: unknown) => logger?.fatal({ err: reason }, 'closing failed: exiting all the same'),
  };
  closeWithGrace({ delay: EXIT_MS_MAX, logger: failed }, async ({ signal, err }) => {
    if (err === undefined) logger?.info({ signal }, 'draining');
    else if (logger === undefined) process.stderr.write(`${name}: ${startFailure(err)}\n`);
    else logger.fatal({ err }, 'a defect: closing');
    stopping.abort();
    const running = await starting?.catch(() => undefined);
    await running?.close();
    logger?.info('closed');
  });

  try {
    const { readConfig, start } = await load();
    const { createLogger } = await import('./logger.ts');
    stopping.signal.throwIfAborted();
    const { config, secrets } = readConfig(process.env);
    logger = createLogger(name, config.instance, config.logLevel);
    starting = start(config, secrets, logger, stopping.signal);
    await starting;
  } catch (error) {
    // A start that a signal interrupted did not fail: the handler above ends the process.
    if (stopping.signal.aborted) return;
    process.stderr.write(`${name}: ${startFailure(error)}\n`);
    process.exit(1);
  }
}

/** A ConfigurationError is recognised by its name: importing its module would load the library that reads settings. */
function startFailure(error: unknown): string {
  if (!(error instanceof Error)) return reasonOf(error);
  if (error.name === 'ConfigurationError') return error.message;
  if ('code' in error && error.code === 'EADDRINUSE') {
    return `${error.message}: choose another port or stop what listens there`;
  }
  return error.stack ?? error.message;
}
