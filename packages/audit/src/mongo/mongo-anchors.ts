import { NOT_EMITTED } from '@plant-store/contracts/indexes';
import { AUDIT_ANCHORS, AUDIT_BLOCKS } from '@plant-store/contracts/plant-document';
import { OPERATION_MS_MAX } from '@plant-store/platform/mongo/mongo';
import { type Collection, type MongoClient, MongoServerError } from 'mongodb';
import type { AnchorStore } from '../anchoring/keep-anchoring.ts';
import { type Anchor, type AnchoredHead, readAnchor } from '../ledger/anchor.ts';
import type { StoredBlock } from '../ledger/stored-block.ts';

/** The first anchor of an existing log counts all its entries, which takes 10 s for ten million. */
const COUNT_MS_MAX = 60_000;
const EMITTED_AT_ONCE = 100;
const DUPLICATE_KEY = 11_000;

/** The same fields as in the emitted line, so that both can be compared; `_id` is the sequence number. */
type StoredAnchor = Anchor & { _id: number; emitted: boolean };

/** The anchors in MongoDB. They wait for a journaled majority: an emitted anchor must not be rolled back. */
export function mongoAnchors(client: MongoClient, database: string): AnchorStore {
  const options = {
    readConcern: { level: 'majority' },
    writeConcern: { w: 'majority', journal: true, wtimeoutMS: OPERATION_MS_MAX },
  } as const;
  const anchors = client.db(database).collection<StoredAnchor>(AUDIT_ANCHORS, options);
  const blocks = client.db(database).collection<StoredBlock>(AUDIT_BLOCKS, options);
  const bounded = { maxTimeMS: OPERATION_MS_MAX };

  return {
    async last() {
      const stored = await anchors.findOne({}, { ...bounded, sort: { _id: -1 } });
      return stored === null ? undefined : anchorOf(stored);
    },
    heads: (since) => readHeads(blocks, since),
    async changed(heads) {
      const found = await Promise.all(
        heads.map(({ chain, height }) =>
          blocks.findOne({ chain, height }, { ...bounded, projection: { hash: 1 } }),
        ),
      );
      return heads.filter(({ hash }, index) => hexOf(found[index]?.hash) !== hash);
    },
    async add(anchor) {
      try {
        await anchors.insertOne({ _id: anchor.sequence, ...anchor, emitted: false }, bounded);
        return true;
      } catch (error) {
        if (error instanceof MongoServerError && error.code === DUPLICATE_KEY) return false;
        throw error;
      }
    },
    async notEmitted() {
      const left = anchors.find({ emitted: false }, { ...bounded, sort: { _id: 1 }, limit: EMITTED_AT_ONCE });
      return (await left.hint(NOT_EMITTED).toArray()).map(anchorOf);
    },
    async emitted(sequence) {
      await anchors.updateOne({ _id: sequence }, { $set: { emitted: true } }, bounded);
    },
  };
}

/** @throws Error when the stored document is no anchor: a new anchor signed on top of it would hide the damage. */
function anchorOf({ _id, emitted: _emitted, ...stored }: StoredAnchor): Anchor {
  const anchor = readAnchor(stored);
  if (anchor === undefined) throw new Error(`what is stored as anchor ${_id} is no anchor`);
  return anchor;
}

/** With the unique index on (chain, height) MongoDB reads one block per chain and skips the others. */
async function readHeads(
  blocks: Collection<StoredBlock>,
  since: readonly AnchoredHead[],
): Promise<AnchoredHead[]> {
  const heads = await blocks
    .aggregate<{ _id: number; height: number; hash: unknown }>(
      [
        { $sort: { chain: -1, height: -1 } },
        { $group: { _id: '$chain', height: { $first: '$height' }, hash: { $first: '$hash' } } },
        { $sort: { _id: 1 } },
      ],
      { maxTimeMS: OPERATION_MS_MAX },
    )
    .toArray();
  return Promise.all(
    heads.map(async ({ _id: chain, height, hash }) => {
      const before = since.find((head) => head.chain === chain);
      const counted = await blocks
        .aggregate<{ entries: number }>(
          [
            { $match: { chain, height: { $gt: before?.height ?? 0, $lte: height } } },
            { $group: { _id: null, entries: { $sum: { $size: '$entries' } } } },
          ],
          { maxTimeMS: COUNT_MS_MAX },
        )
        .next();
      const entries = (before?.entries ?? 0) + (counted?.entries ?? 0);
      return { chain, height, hash: hexOf(hash) as string, entries };
    }),
  );
}

/** The driver gives bytes as Binary. */
function hexOf(bytes: unknown): string | undefined {
  const value = (bytes as { value?: () => Uint8Array } | undefined)?.value?.();
  return value && Buffer.from(value).toString('hex');
}
