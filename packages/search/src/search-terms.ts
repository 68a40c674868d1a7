import type { Answer } from './answer.ts';
import { foundPlant, SearchTimeout } from './answer.ts';
import {
  answers,
  type Condition,
  conditionsOf,
  meets,
  OTHER_QUESTION,
  type Question,
  QuestionError,
} from './question.ts';
import type { SearchEntry } from './search-entry.ts';

/** A place in the index of terms: by term, then the newest first, then by id. */
export type Position = { term: string; created: Date; id: bigint };

/** The stretch of the index that a condition names. */
export type Stretch = Condition & { since?: Date; until?: Date };

export type TermIndex = {
  /**
   * The entries of a stretch in the index's order, from a position on, the one there included. An entry with several
   * terms in the stretch comes once, at the first of them.
   * @throws SearchTimeout when it takes longer than it may, as the others do
   */
  read: (
    stretch: Stretch,
    from: Position | undefined,
    entriesMax: number,
    msMax: number,
  ) => Promise<SearchEntry[]>;
  /** How many entries a stretch has, counted up to a limit; of a prefix perhaps up to a lower one. */
  count: (stretch: Stretch, countMax: number, msMax: number) => Promise<number>;
  byIds: (ids: readonly bigint[], msMax: number) => Promise<SearchEntry[]>;
};

/** Entries read at once when most of them may fail the other conditions. */
const READ_ENTRIES_MIN = 250;
const READ_ENTRIES_MAX = 4_000;
/** Limits of counting entries to find the rarest condition; of a long text only the first words are counted. */
const FEW_COUNTED_MAX = 1_000;
const MANY_COUNTED_MAX = 20_000;
const CONDITIONS_COUNTED_MAX = 8;

/**
 * Answers one page of a search by words, name and tag. The stretch of the rarest condition is read in the index's order
 * from where the last page ended, and entries that fail another condition are left out. The cost of a page therefore
 * depends on the entries it shows, also for deep pages and common words. Only several common words that rarely occur
 * together cost more; the timeout limits that.
 */
export async function searchTerms(
  index: TermIndex,
  question: Question,
  { plantsMax, after, msLeft }: { plantsMax: number; after: unknown; msLeft: () => number },
): Promise<Answer<TermPlace>> {
  const conditions = conditionsOf(question);
  const start = after === undefined ? undefined : readPlace(after, conditions);
  const plants: Answer['plants'] = [];
  let chosen = start?.chosen ?? 0;
  let seen = start?.seen;
  const entriesMin = conditions.length === 1 ? plantsMax + 2 : READ_ENTRIES_MIN;
  let entriesMax = entriesMin;
  const next = () => (seen === undefined ? {} : { next: placeOf(chosen, seen) });
  /** What the first condition had answered, until the stretch of a better one has been read once. */
  let earlier: Omit<Answer<TermPlace>, 'timedOut'> | undefined;
  try {
    let isGuess = false;
    if (start === undefined) {
      ({ chosen, isGuess } = await rarest(index, question, conditions, FEW_COUNTED_MAX, msLeft));
    }
    let stretch = stretchOf(conditions[chosen] as Condition, question);
    while (msLeft() > 0) {
      const from = seen;
      const entries = await index.read(stretch, from, entriesMax, msLeft());
      for (const entry of entries) {
        const positions = positionsOf(entry, stretch);
        const met = positions.find((position) => from === undefined || !isBefore(position, from));
        if (met === undefined || (from !== undefined && isSame(met, from))) continue;
        // An entry with several terms in the stretch is shown only at the first of them.
        const isShown = isSame(met, positions[0] as Position) && answers(entry, conditions, question);
        if (isShown && plants.length === plantsMax) return { plants, ...next(), timedOut: false };
        if (isShown) plants.push(foundPlant(entry));
        seen = met;
      }
      earlier = undefined;
      if (entries.length < entriesMax) return { plants, timedOut: false };
      if (isGuess) {
        // All conditions are common, and those of the first plants rarely come together: counting further pays now.
        const better = await rarest(index, question, conditions, MANY_COUNTED_MAX, msLeft);
        isGuess = false;
        if (better.chosen !== chosen) {
          earlier = { plants: plants.splice(0), ...next() };
          chosen = better.chosen;
          stretch = stretchOf(conditions[chosen] as Condition, question);
          seen = undefined;
          continue;
        }
      }
      const skipped = seen && stretch.prefix ? pastOtherTimes(seen, question) : undefined;
      seen = skipped ?? seen;
      entriesMax = skipped === undefined ? Math.min(entriesMax * 2, READ_ENTRIES_MAX) : entriesMin;
    }
  } catch (error) {
    if (!(error instanceof SearchTimeout)) throw error;
  }
  return { ...(earlier ?? { plants, ...next() }), timedOut: true };
}

/** The condition with the fewest entries; a guess when each has more than are counted. */
async function rarest(
  index: TermIndex,
  question: Question,
  conditions: readonly Condition[],
  countMax: number,
  msLeft: () => number,
): Promise<{ chosen: number; isGuess: boolean }> {
  if (conditions.length === 1) return { chosen: 0, isGuess: false };
  const counted = conditions.slice(0, CONDITIONS_COUNTED_MAX);
  const counts = await Promise.all(
    counted.map((condition) => index.count(stretchOf(condition, question), countMax, msLeft())),
  );
  const fewest = Math.min(...counts);
  return { chosen: counts.indexOf(fewest), isGuess: fewest >= countMax };
}

function stretchOf(condition: Condition, { since, until }: Question): Stretch {
  return { ...condition, ...(since && { since }), ...(until && { until }) };
}

const OLDEST = new Date(-8.64e15);
const ID_MAX = 2n ** 63n - 1n;

/**
 * In the stretch of a prefix, each term has entries of all times, the newest first. From an entry that is too new, the
 * next one worth reading is the first in time; from one that is too old, it is that of the next term. Undefined when
 * the entry is of the time that is asked for.
 */
function pastOtherTimes({ term, created }: Position, { since, until }: Question): Position | undefined {
  if (since !== undefined && created < since) return { term, created: OLDEST, id: ID_MAX };
  if (until !== undefined && created >= until) return { term, created: until, id: ID_MAX };
  return undefined;
}

/** Where the entry stands in the stretch: once for each of its terms that meets the condition. */
function positionsOf({ _id, created, terms }: SearchEntry, condition: Condition): Position[] {
  const met = terms.filter((term) => meets(term, condition));
  return met.sort(byBytes).map((term) => ({ term, created, id: _id }));
}

function isBefore(a: Position, b: Position): boolean {
  if (a.term !== b.term) return byBytes(a.term, b.term) < 0;
  const [newer, older] = [a.created.getTime(), b.created.getTime()];
  return newer === older ? a.id < b.id : newer > older;
}

function isSame(a: Position, b: Position): boolean {
  return a.term === b.term && a.id === b.id;
}

/** As MongoDB orders strings: by their bytes in UTF-8. JavaScript compares UTF-16 units. */
function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** The condition whose stretch is read, and the last entry seen there. */
type TermPlace = [chosen: number, term: string, created: number, id: string];

function isTermPlace(place: unknown): place is TermPlace {
  const [chosen, term, created, id, ...rest] = place as Partial<TermPlace>;
  const isTime = typeof created === 'number' && !Number.isNaN(new Date(created).getTime());
  const isId = typeof id === 'string' && /^-?\d{1,19}$/.test(id);
  return typeof chosen === 'number' && typeof term === 'string' && isTime && isId && rest.length === 0;
}

function placeOf(chosen: number, { term, created, id }: Position): TermPlace {
  return [chosen, term, created.getTime(), id.toString()];
}

function readPlace(place: unknown, conditions: readonly Condition[]): { chosen: number; seen: Position } {
  if (!isTermPlace(place)) throw new QuestionError(OTHER_QUESTION);
  const [chosen, term, created, id] = place;
  const condition = conditions[chosen];
  if (condition === undefined || !meets(term, condition)) throw new QuestionError(OTHER_QUESTION);
  return { chosen, seen: { term, created: new Date(created), id: BigInt(id) } };
}
