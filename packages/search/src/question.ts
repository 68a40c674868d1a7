import { foldedName, words } from './folding.ts';
import type { SearchEntry } from './search-entry.ts';
import { terms } from './terms.ts';

/** A search by an operator. It finds every plant that meets all its conditions. */
export type Question = {
  id?: bigint;
  /** All words of it, the last one also as the beginning of a word; case and accents do not count. */
  text?: string;
  /** The beginning of the name; case and accents do not count. */
  name?: string;
  /** The whole tag; case and accents do not count. */
  tag?: string;
  request?: string;
  commit?: string;
  subject?: string;
  /** Created at this time or later. */
  since?: Date;
  /** Created before this time. */
  until?: Date;
};

/** A question that cannot be answered; the message says what to change. */
export class QuestionError extends Error {
  override readonly name = 'QuestionError';
}

/** A page of an answer is asked for that another question's answer named. */
export const OTHER_QUESTION = 'this page belongs to another question: ask for the first one';

/** A term, or every term that begins with it. */
export type Condition = { term: string; prefix: boolean };

/** What only the audit log knows of a plant. */
export type Provenance = { request?: string; commit?: string; subject?: string };

/** @throws QuestionError when the question has no condition that can be looked up. */
export function checkQuestion(question: Question): void {
  const { id, text, name, tag, request, commit, subject } = question;
  if ([id, text, name, tag, request, commit, subject].every((part) => part === undefined)) {
    throw new QuestionError('ask for an id, words, a name, a tag, a request, a commit or a subject');
  }
  if (text !== undefined && words(text).length === 0) {
    throw new QuestionError('there is no word to search for in the text');
  }
  if (commit !== undefined && !/^[0-9a-f]{24}$/i.test(commit)) {
    throw new QuestionError('a commit is 24 hexadecimal digits');
  }
}

export function provenanceOf({ request, commit, subject }: Question): Provenance | undefined {
  if (request === undefined && commit === undefined && subject === undefined) return undefined;
  return { ...(request && { request }), ...(commit && { commit }), ...(subject && { subject }) };
}

export function conditionsOf({ text, name, tag }: Question): Condition[] {
  const searched = text === undefined ? [] : words(text);
  return [
    ...(name === undefined ? [] : [{ term: terms.name(foldedName(name)), prefix: true }]),
    ...searched.map((word, index) => ({ term: terms.word(word), prefix: index === searched.length - 1 })),
    ...(tag === undefined ? [] : [{ term: terms.tag(tag), prefix: false }]),
  ];
}

/** Whether the plant's search entry meets all conditions. */
export function answers(
  { _id, created, terms: own }: SearchEntry,
  conditions: readonly Condition[],
  { id, since, until }: Question,
): boolean {
  return (
    (id === undefined || _id === id) &&
    (since === undefined || created >= since) &&
    (until === undefined || created < until) &&
    conditions.every((condition) => own.some((term) => meets(term, condition)))
  );
}

export function meets(term: string, condition: Condition): boolean {
  return condition.prefix ? term.startsWith(condition.term) : term === condition.term;
}
