import { TERMS_INDEX } from '@plant-store/contracts/indexes';
import { PLANT_SEARCH } from '@plant-store/contracts/plant-document';
import { type Db, MaxKey, MinKey } from 'mongodb';
import type { SearchEntry } from '../search-entry.ts';
import type { Position, Stretch, TermIndex } from '../search-terms.ts';
import { inTime } from './mongo-timeout.ts';

/** The last Unicode character: appended to a prefix, it gives the upper bound of all terms with that prefix. */
const LAST_CHARACTER = '\u{10ffff}';

/** Entries of a prefix are counted by the client, at 3 µs each; those of a whole term by the database, at a tenth. */
const PREFIX_COUNT_MAX = 4_000;

/**
 * The index of terms in MongoDB. `min` and `max` are positions in the index itself. They also work for a multikey
 * index, where a condition on a range of terms would neither limit the scan nor keep its order. The collection must not
 * be sharded.
 */
export function mongoTermIndex(database: Db): TermIndex {
  const search = database.collection<SearchEntry>(PLANT_SEARCH);

  return {
    read: (stretch, from, entriesMax, msMax) =>
      inTime(msMax, () =>
        search
          .find({}, { maxTimeMS: msMax, limit: entriesMax, batchSize: entriesMax })
          .hint(TERMS_INDEX)
          .min(from === undefined ? startOf(stretch) : keyOf(from))
          .max(endOf(stretch))
          .toArray(),
      ),
    count: async (stretch, countMax, msMax) => {
      if (!stretch.prefix) {
        const query = { terms: stretch.term, ...timeOf(stretch) };
        const bounded = { limit: countMax, hint: TERMS_INDEX, maxTimeMS: msMax };
        return (await inTime(msMax, () => database.command({ count: PLANT_SEARCH, query, ...bounded })))[
          'n'
        ] as number;
      }
      // The index alone holds this field, so no document is read. `count` cannot take the bounds of a prefix.
      const prefixMax = Math.min(countMax, PREFIX_COUNT_MAX);
      const counted = await inTime(msMax, () =>
        search
          .find({}, { projection: { _id: 1 }, maxTimeMS: msMax, limit: prefixMax, batchSize: prefixMax })
          .hint(TERMS_INDEX)
          .min(startOf(stretch))
          .max(endOf(stretch))
          .toArray(),
      );
      return counted.length;
    },
    byIds: (ids, msMax) =>
      inTime(msMax, () => search.find({ _id: { $in: [...ids] } }, { maxTimeMS: msMax }).toArray()),
  };
}

function keyOf({ term, created, id }: Position) {
  return { terms: term, created, _id: id };
}

function timeOf({ since, until }: Stretch): { created?: Record<string, Date> } {
  if (since === undefined && until === undefined) return {};
  return { created: { ...(since && { $gte: since }), ...(until && { $lt: until }) } };
}

/** Newer plants come first, so the later bound in time is the first in the index. A bound of a prefix is no bound. */
function startOf({ term, prefix, until }: Stretch) {
  const newest = prefix || until === undefined ? new MaxKey() : new Date(until.getTime() - 1);
  return { terms: term, created: newest, _id: new MinKey() };
}

function endOf({ term, prefix, since }: Stretch) {
  if (prefix) return { terms: term + LAST_CHARACTER, created: new MaxKey(), _id: new MinKey() };
  const beyond = since === undefined ? new MinKey() : new Date(since.getTime() - 1);
  return { terms: term, created: beyond, _id: new MinKey() };
}
