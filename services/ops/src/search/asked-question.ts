import { int64FromJsonNumber } from '@plant-store/contracts/plant-id';
import type { Question } from '@plant-store/search/question';
import { askedTime, TIME_RULE } from './asked-time.ts';

/** The fields of the search form, as the person filled them in. */
const SEARCH_FIELDS = [
  'text',
  'id',
  'name',
  'tag',
  'request',
  'commit',
  'subject',
  'since',
  'until',
] as const;
export type AskedFields = Partial<Record<(typeof SEARCH_FIELDS)[number], string>>;

const FIELD_LENGTH_MAX = 1_000;

export function readFields(query: unknown): AskedFields {
  const given = (query ?? {}) as Record<string, unknown>;
  const fields: AskedFields = {};
  for (const name of SEARCH_FIELDS) {
    const value = given[name];
    if (typeof value === 'string' && value.trim() !== '')
      fields[name] = value.trim().slice(0, FIELD_LENGTH_MAX);
  }
  return fields;
}

/** @returns the question, or what to change in words. */
export function askedQuestion(
  { id: idText, since: sinceText, until: untilText, ...texts }: AskedFields,
  now: Date,
): { question: Question } | { problem: string } {
  const id = idText === undefined ? undefined : int64FromJsonNumber(idText);
  if (idText !== undefined && id === undefined) {
    return { problem: 'An id is a whole number from -2^63 to 2^63-1.' };
  }
  const since = sinceText === undefined ? undefined : askedTime(sinceText, now);
  const until = untilText === undefined ? undefined : askedTime(untilText, now);
  if ((sinceText !== undefined && since === undefined) || (untilText !== undefined && until === undefined)) {
    return { problem: TIME_RULE };
  }
  return {
    question: { ...texts, ...(id !== undefined && { id }), ...(since && { since }), ...(until && { until }) },
  };
}
