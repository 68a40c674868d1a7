import { type Logger, pino } from 'pino';
import { reasonOf } from './reason.ts';

export type { Logger };
export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** JSON lines on standard output. The code never logs tokens and secrets; redaction is a second safeguard. */
export function createLogger(service: string, instance: string, level: LogLevel): Logger {
  const options = {
    level,
    base: { service, instance },
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: asFields },
    redact: ['authorization', '*.authorization', '*.password', '*.secret', '*.token'],
  };
  return pino(options, standardOutput());
}

/** Lines that cannot be written when the process ends, since their reader has gone, do not change its exit code. */
function standardOutput(): pino.DestinationStream {
  const output = pino.destination();
  const flush = output.flushSync.bind(output);
  output.flushSync = () => {
    try {
      flush();
    } catch {
      // There is nowhere left to report it.
    }
  };
  return output;
}

/** What was thrown may be no error: then its content tells something, and there is no stack. */
function asFields(thrown: unknown): object {
  return thrown instanceof Error ? pino.stdSerializers.err(thrown) : { message: reasonOf(thrown) };
}
