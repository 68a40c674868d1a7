import { type Logger, pino } from 'pino';

export type CapturedLog = { logger: Logger; lines: readonly Record<string, unknown>[] };

/** A logger as services are given one, whose lines a test can read. */
export function capturedLog(level = 'info'): CapturedLog {
  const lines: Record<string, unknown>[] = [];
  return { logger: pino({ level }, { write: (line) => void lines.push(JSON.parse(line)) }), lines };
}
