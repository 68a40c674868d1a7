import { type Answer, foundPlant, SearchTimeout } from './answer.ts';
import {
  answers,
  checkQuestion,
  conditionsOf,
  provenanceOf,
  type Question,
  QuestionError,
} from './question.ts';
import { type AuditedIndex, searchProvenance } from './search-provenance.ts';
import { searchTerms, type TermIndex } from './search-terms.ts';

export type Indexes = { index: TermIndex; audited: AuditedIndex };

export type PageRequest = { plantsMax?: number; after?: string; msMax?: number };

const PAGE_PLANTS = 20;
export const PAGE_PLANTS_MAX = 1_000;
const SEARCH_MS_MAX = 1_000;

/**
 * Answers one page of a question.
 * @throws QuestionError when the question, or the place to go on from, makes no sense.
 */
export async function searchPlants(
  indexes: Indexes,
  question: Question,
  { plantsMax = PAGE_PLANTS, after, msMax = SEARCH_MS_MAX }: PageRequest = {},
): Promise<Answer> {
  checkQuestion(question);
  const deadline = performance.now() + msMax;
  const msLeft = () => Math.ceil(deadline - performance.now());
  const page = { plantsMax, after: after === undefined ? undefined : readPlace(after), msLeft };

  const provenance = provenanceOf(question);
  if (provenance !== undefined) {
    return withText(await searchProvenance(indexes, provenance, question, page));
  }
  if (question.id === undefined) return withText(await searchTerms(indexes.index, question, page));

  return searchId(indexes.index, question.id, question, msMax);
}

async function searchId(index: TermIndex, id: bigint, question: Question, msMax: number): Promise<Answer> {
  try {
    const found = await index.byIds([id], msMax);
    const plants = found.filter((entry) => answers(entry, conditionsOf(question), question)).map(foundPlant);
    return { plants, timedOut: false };
  } catch (error) {
    if (error instanceof SearchTimeout) return { plants: [], timedOut: true };
    throw error;
  }
}

/** Encodes the place of the next page as opaque text. */
function withText({ next, ...answer }: Answer<unknown>): Answer {
  if (next === undefined) return answer;
  return { ...answer, next: Buffer.from(JSON.stringify(next)).toString('base64url') };
}

function readPlace(text: string): unknown {
  try {
    const place: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    if (Array.isArray(place)) return place;
  } catch {
    // It is answered below as any other text that is no place.
  }
  throw new QuestionError('this is no page: take the one an answer named, or ask for the first one');
}
