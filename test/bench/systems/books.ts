import { PENDING_COMMITS } from '@plant-store/contracts/indexes';
import type { Db } from 'mongodb';

export type Counts = { stored: number; indexed: number; audited: number };

/** What the database says about a system's plants. */
export type Books = {
  /** Cheap enough to be asked many times a second. */
  isPending: (database: Db) => Promise<boolean>;
  counts: (database: Db) => Promise<Counts>;
};

/** From the collections' own counters: costs nothing. */
export const collectionSizes = async (database: Db) => ({
  stored: await database.collection('plants').estimatedDocumentCount(),
  indexed: await database.collection('plant_search').estimatedDocumentCount(),
});

/** Ours: a plant's pending flag goes last; a block of the audit log holds many entries. */
export const ourBooks: Books = {
  isPending: async (database) =>
    (await database
      .collection('plants')
      .findOne({ pending: true }, { hint: PENDING_COMMITS, projection: { _id: 1 } })) !== null,
  counts: async (database) => {
    const [sum] = await database
      .collection('audit_blocks')
      .aggregate<{ entries: number }>([{ $group: { _id: null, entries: { $sum: { $size: '$entries' } } } }])
      .toArray();
    return { ...(await collectionSizes(database)), audited: sum?.entries ?? 0 };
  },
};

/** Rivals: the audit record is the last thing that a job writes. */
export const rivalBooks: Books = {
  isPending: async (database) => {
    const { stored, audited } = await rivalBooks.counts(database);
    return audited < stored;
  },
  counts: async (database) => ({
    ...(await collectionSizes(database)),
    audited: await database.collection('audit_records').estimatedDocumentCount(),
  }),
};
