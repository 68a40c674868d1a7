import { type Logger, pino } from 'pino';
import { reasonOf } from './reason.ts';

export type { Logger };
export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** JSON lines on standard output. The code never logs tokens and secrets; redaction is a second safeguard. */
export function createLogger(service: string, instance: string, level: LogLevel): Logger {
  return pino({
    level,
    base: { service, instance },
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: asFields },
    redact: ['authorization', '*.authorization', '*.password', '*.secret', '*.token'],
  });
}

/** What was thrown may be no error: then its content tells something, and there is no stack. */
function asFields(thrown: unknown): object {
  return thrown instanceof Error ? pino.stdSerializers.err(thrown) : { message: reasonOf(thrown) };
}
