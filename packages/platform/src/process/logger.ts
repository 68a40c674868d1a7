import { type Logger, pino } from 'pino';

export type { Logger };
export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** JSON lines on standard output. The code never logs tokens and secrets; redaction is a second safeguard. */
export function createLogger(service: string, instance: string, level: LogLevel): Logger {
  return pino({
    level,
    base: { service, instance },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: ['authorization', '*.authorization', '*.password', '*.secret', '*.token'],
  });
}
