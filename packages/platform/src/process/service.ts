import closeWithGrace from 'close-with-grace';
import type { Logger, LogLevel } from './logger.ts';

/** SIGTERM to exit, at most: what an orchestrator's grace period has to exceed. */
const EXIT_MS_MAX = 10_000;

/** Something that was started and has to be stopped in order. */
export type Running = { close: () => Promise<void> };

type Service<Config, Secrets> = {
  /** @throws ConfigurationError */
  readConfig: (environment: NodeJS.ProcessEnv) => { config: Config; secrets: Secrets };
  /** `stopping` is aborted when a signal arrives meanwhile. What was opened is closed again when it rejects. */
  start: (config: Config, secrets: Secrets, logger: Logger, stopping: AbortSignal) => Promise<Running>;
};

/**
 * Runs one service process. SIGTERM, SIGINT or a defect closes it; it exits within 10 s, with 0 after a signal, also
 * after one that arrives while it starts. A service that cannot start says why in one line and exits with 1.
 * @param load imports the service. Its modules are most of a start, so the signals are handled before they are loaded.
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
    // What a signal interrupted is no failure: the handler above ends the process.
    if (stopping.signal.aborted) return;
    process.stderr.write(`${name}: ${startFailure(error)}\n`);
    process.exit(1);
  }
}

/** A ConfigurationError is known by its name: importing its module would load the library that reads settings. */
function startFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'ConfigurationError') return error.message;
  if ('code' in error && error.code === 'EADDRINUSE') {
    return `${error.message}: choose another port or stop what listens there`;
  }
  return error.stack ?? error.message;
}
