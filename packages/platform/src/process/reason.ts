import { inspect } from 'node:util';

const REASON_CHARACTERS_MAX = 500;

/**
 * Why something failed, in one line for the log, whatever was thrown. The error of a connection that was tried at
 * several addresses has an empty message; the errors of the addresses are in it.
 */
export function reasonOf(error: unknown): string {
  if (typeof error === 'string') return error;
  if (error instanceof AggregateError && error.message === '') return error.errors.map(reasonOf).join('; ');
  const reason =
    error instanceof Error
      ? error.message || error.name
      : inspect(error, { depth: 2, breakLength: Infinity });
  return reason.slice(0, REASON_CHARACTERS_MAX);
}
