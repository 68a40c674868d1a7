import { type Answer, foundPlant, SearchTimeout } from './answer.ts';
import {
  answers,
  conditionsOf,
  OTHER_QUESTION,
  type Provenance,
  type Question,
  QuestionError,
} from './question.ts';
import type { TermIndex } from './search-terms.ts';

/** The creations of one audit block that a question asks for. */
export type AuditedPlants = { block: string; time: Date; ids: bigint[] };

export type AuditedIndex = {
  /**
   * The newest blocks with such creations, sealed at that time or before.
   * @throws SearchTimeout when it takes longer than it may
   */
  read: (
    provenance: Provenance,
    until: Date | undefined,
    blocksMax: number,
    msMax: number,
  ) => Promise<AuditedPlants[]>;
};

/** A block, and how many of its creations were already checked. */
type BlockPlace = [time: number, block: string, seen: number];

const READ_BLOCKS_MIN = 4;
const READ_BLOCKS_MAX = 256;
/** Search entries looked up at once when some of them may fail the other conditions. */
const LOOKED_UP_AT_ONCE = 500;

/**
 * Answers one page of a search by request, commit and subject, which are in the audit log: the newest block first, and
 * within a block in its order. The search entries of these plants must meet the other conditions.
 */
export async function searchProvenance(
  { audited, index }: { audited: AuditedIndex; index: TermIndex },
  provenance: Provenance,
  question: Question,
  { plantsMax, after, msLeft }: { plantsMax: number; after: unknown; msLeft: () => number },
): Promise<Answer<BlockPlace>> {
  const conditions = conditionsOf(question);
  const isFiltered = conditions.length > 0 || [question.id, question.since, question.until].some(isDefined);
  const lookedUpAtOnce = isFiltered ? LOOKED_UP_AT_ONCE : Math.min(plantsMax + 1, LOOKED_UP_AT_ONCE);
  const plants: Answer['plants'] = [];
  let place = after === undefined ? undefined : readPlace(after);
  const next = () => (place === undefined ? {} : { next: place });
  let blocksMax = READ_BLOCKS_MIN;
  try {
    while (msLeft() > 0) {
      const until = place === undefined ? undefined : new Date(place[0]);
      const blocks = await audited.read(provenance, until, blocksMax, msLeft());
      // Blocks of the same time come in the order of their ids; those before the place were already checked.
      const from = blocks.findIndex(({ time, block }) => !isBefore(time, block, place));
      for (const { time, block, ids } of from < 0 ? [] : blocks.slice(from)) {
        const seen = block === place?.[1] ? place[2] : 0;
        for (let start = seen; start < ids.length; start += lookedUpAtOnce) {
          const some = ids.slice(start, start + lookedUpAtOnce);
          const entries = new Map((await index.byIds(some, msLeft())).map((entry) => [entry._id, entry]));
          for (const [offset, id] of some.entries()) {
            const entry = entries.get(id);
            const isShown = entry !== undefined && answers(entry, conditions, question);
            if (isShown && plants.length === plantsMax) return { plants, ...next(), timedOut: false };
            if (isShown) plants.push(foundPlant(entry));
            place = [time.getTime(), block, start + offset + 1];
          }
        }
      }
      if (blocks.length < blocksMax) return { plants, timedOut: false };
      blocksMax = Math.min(blocksMax * 4, READ_BLOCKS_MAX);
    }
  } catch (error) {
    if (!(error instanceof SearchTimeout)) throw error;
  }
  return { plants, ...next(), timedOut: true };
}

function readPlace(place: unknown): BlockPlace {
  const [time, block, seen, ...rest] = place as Partial<BlockPlace>;
  const isTime = typeof time === 'number' && !Number.isNaN(new Date(time).getTime());
  const isPlace = isTime && typeof block === 'string' && Number.isSafeInteger(seen) && rest.length === 0;
  if (!isPlace) throw new QuestionError(OTHER_QUESTION);
  return place as BlockPlace;
}

function isDefined(value: unknown): boolean {
  return value !== undefined;
}

function isBefore(time: Date, block: string, place: BlockPlace | undefined): boolean {
  return (
    place !== undefined && (time.getTime() > place[0] || (time.getTime() === place[0] && block < place[1]))
  );
}
