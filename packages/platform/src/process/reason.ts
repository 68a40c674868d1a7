import { inspect } from 'node:util';

const REASON_CHARACTERS_MAX = 500;

/**
 * Why something failed, in one line of at most 500 characters for the log, whatever was thrown. The error of a
 * connection that was tried at several addresses has an empty message; the errors of the addresses are in it.
 */
export function reasonOf(error: unknown): string {
  return wordsOf(error).replaceAll(/\s+/g, ' ').slice(0, REASON_CHARACTERS_MAX);
}

function wordsOf(error: unknown): string {
  if (typeof error === 'string') return error;
  if (error instanceof AggregateError && error.message === '') return error.errors.map(reasonOf).join('; ');
  if (error instanceof Error) return error.message || error.name;
  return inspect(error, { depth: 2, breakLength: Infinity });
}
