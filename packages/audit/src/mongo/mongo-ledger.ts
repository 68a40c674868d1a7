import { AUDIT_ANCHORS, AUDIT_BLOCKS } from '@plant-store/contracts/plant-document';
import type { Db, Document } from 'mongodb';
import { type Anchor, readAnchor } from '../ledger/anchor.ts';
import type { AuditBlock, BlockHeader } from '../ledger/audit-block.ts';
import { headerOf } from '../ledger/audit-block.ts';
import { readBlock } from '../ledger/stored-block.ts';
import type { AnchoredHead } from '../verification/verify-chain.ts';

/** Blocks fetched at once: some megabytes. */
const BLOCKS_AT_ONCE = 10;
/** Blocks whose plants are fetched at once. */
const CREATIONS_AT_ONCE = 20;
/** Timeout of one operation. A timeout for a whole stream would cut off long ones. */
const OPERATION_MS_MAX = 30_000;

/** Where the creation of a plant is in the log, and the hash of the plant's content. */
export type AuditedPlant = { plant: bigint; content: string; chain: number; height: number };

export type Ledger = ReturnType<typeof mongoLedger>;

/** Reads of the audit log in MongoDB, all by majority, so that they return nothing that a failover rolls back. */
export function mongoLedger(database: Db) {
  const options = { readConcern: { level: 'majority' } } as const;
  const blocks = database.collection(AUDIT_BLOCKS, options);
  const anchors = database.collection<Document & { _id: number }>(AUDIT_ANCHORS, options);
  const bounded = { maxTimeMS: OPERATION_MS_MAX };

  /**
   * The oldest anchor that meets a condition which all later ones meet as well. It is searched by bisection: a year has
   * half a million anchors, and 20 of them are read.
   */
  async function firstAnchor(isMet: (anchor: Anchor) => boolean): Promise<Anchor | undefined> {
    const newest = await anchors.findOne({}, { ...bounded, sort: { _id: -1 }, projection: { _id: 1 } });
    let from = 1;
    let to = (newest?._id ?? 0) + 1;
    let first: Anchor | undefined;
    while (from < to) {
      const middle = Math.floor((from + to) / 2);
      // The next one where an anchor is missing. One that is no anchor meets nothing.
      const found = await anchors.findOne({ _id: { $gte: middle } }, { ...bounded, sort: { _id: 1 } });
      const anchor = anchorOf(found);
      if (anchor !== undefined && isMet(anchor)) {
        first = anchor;
        to = middle;
      } else {
        from = Math.max(middle, found?._id ?? middle) + 1;
      }
    }
    return first;
  }

  return {
    async chains(): Promise<number[]> {
      const found = await blocks
        .aggregate<{ _id: number }>(
          [{ $sort: { chain: 1, height: 1 } }, { $group: { _id: '$chain' } }],
          bounded,
        )
        .toArray();
      return found.map(({ _id }) => _id).sort((a, b) => a - b);
    },

    async heads(): Promise<{ chain: number; height: number }[]> {
      const found = await blocks
        .aggregate<{ _id: number; height: number }>(
          [
            { $sort: { chain: -1, height: -1 } },
            { $group: { _id: '$chain', height: { $first: '$height' } } },
          ],
          bounded,
        )
        .toArray();
      return found.map(({ _id, height }) => ({ chain: _id, height }));
    },

    /** The documents as stored. Text that is not valid UTF-8 is read too; its hash then does not match. */
    blocks: (chain: number, after: number): AsyncIterable<Document> =>
      blocks.find(
        { chain, height: { $gt: after } },
        { sort: { height: 1 }, batchSize: BLOCKS_AT_ONCE, promoteBuffers: true, enableUtf8Validation: false },
      ),

    /** The plants whose creations are in the blocks after one height and up to another, a block at a time. */
    async *creations(
      chain: number,
      after: number,
      upTo: number,
    ): AsyncIterable<{ height: number; plants: bigint[] }> {
      const found = blocks.find(
        { chain, height: { $gt: after, $lte: upTo } },
        { sort: { height: 1 }, batchSize: CREATIONS_AT_ONCE, projection: { height: 1, 'entries.plant': 1 } },
      );
      for await (const { height, entries } of found) {
        const plants = (entries as { plant?: unknown }[]).map(({ plant }) => plant);
        yield { height, plants: plants.filter((plant) => typeof plant === 'bigint') };
      }
    },

    /** How many blocks there are after these heights. */
    async count(after: ReadonlyMap<number, number>): Promise<number> {
      if (after.size === 0) return blocks.estimatedDocumentCount(bounded);
      const counts = await Promise.all(
        [...after].map(([chain, height]) =>
          blocks.countDocuments({ chain, height: { $gt: height } }, bounded),
        ),
      );
      return counts.reduce((sum, count) => sum + count, 0);
    },

    async *anchors(from: number): AsyncIterable<{ sequence: number; anchor: unknown }> {
      for await (const stored of anchors.find({ _id: { $gte: from } }, { sort: { _id: 1 } })) {
        const { _id, emitted: _emitted, ...anchor } = stored;
        yield { sequence: _id, anchor };
      }
    },

    /** The heads of one chain in the anchors from one sequence number to another. */
    async *anchoredHeads(chain: number, from: number, to: number): AsyncIterable<AnchoredHead> {
      const found = anchors.find({ _id: { $gte: from, $lte: to } }, { sort: { _id: 1 } });
      for await (const { _id, emitted: _emitted, ...stored } of found) {
        const head = readAnchor(stored)?.heads.find((candidate) => candidate.chain === chain);
        if (head !== undefined) yield { ...head, anchor: _id };
      }
    },

    /** The anchors with these sequence numbers; malformed ones are left out. */
    async anchorsOf(sequences: readonly number[]): Promise<Map<number, Anchor>> {
      const found = new Map<number, Anchor>();
      for await (const stored of anchors.find({ _id: { $in: [...sequences] } }, bounded)) {
        const anchor = anchorOf(stored);
        if (anchor !== undefined) found.set(stored._id, anchor);
      }
      return found;
    },

    /** The newest anchor that was made by then. */
    async anchorBefore(time: Date): Promise<Anchor | undefined> {
      const later = await firstAnchor((anchor) => Date.parse(anchor.time) > time.getTime());
      const filter = later === undefined ? {} : { _id: { $lt: later.sequence } };
      return anchorOf(await anchors.findOne(filter, { ...bounded, sort: { _id: -1 } }));
    },

    /** The oldest anchor that names this height of the chain or a later one. */
    anchorAfter: (chain: number, height: number): Promise<Anchor | undefined> =>
      firstAnchor(({ heads }) => heads.some((head) => head.chain === chain && head.height >= height)),

    async lastAnchor(): Promise<Anchor | undefined> {
      return anchorOf(await anchors.findOne({}, { ...bounded, sort: { _id: -1 } }));
    },

    /** Where the creations of these plants are in the log. A plant appears twice only if the log was tampered with. */
    async audited(plants: readonly bigint[]): Promise<AuditedPlant[]> {
      const wanted = new Set(plants);
      const found = blocks.find(
        { 'entries.event': { $in: [...plants] } },
        {
          ...bounded,
          batchSize: BLOCKS_AT_ONCE,
          promoteBuffers: true,
          projection: { chain: 1, height: 1, 'entries.event': 1, 'entries.content': 1 },
        },
      );
      const audited: AuditedPlant[] = [];
      for await (const { chain, height, entries } of found) {
        for (const { event, content } of entries as { event: unknown; content: unknown }[]) {
          if (typeof event !== 'bigint' || !wanted.has(event)) continue;
          audited.push({
            plant: event,
            content: Buffer.from(content as Buffer).toString('hex'),
            chain,
            height,
          });
        }
      }
      return audited;
    },

    /** The block that holds the creation of a plant. */
    async blockOf(plant: bigint): Promise<AuditBlock | undefined> {
      const found = await blocks.findOne({ 'entries.event': plant }, bounded);
      return found === null ? undefined : readBlock(found);
    },

    async headers(chain: number, after: number, upTo: number): Promise<BlockHeader[]> {
      const found = blocks.aggregate<Document & { count: number }>(
        [
          { $match: { chain, height: { $gt: after, $lte: upTo } } },
          { $sort: { height: 1 } },
          // The entries stay in the database: a minute of them may be a hundred megabytes.
          { $set: { count: { $size: '$entries' }, entries: [] } },
        ],
        bounded,
      );
      const headers: BlockHeader[] = [];
      for await (const { count, ...block } of found) {
        headers.push({ ...headerOf(readBlock(block)), entries: count });
      }
      return headers;
    },
  };
}

function anchorOf(stored: Document | null): Anchor | undefined {
  if (stored === null) return undefined;
  const { _id, emitted: _emitted, ...anchor } = stored;
  return readAnchor(anchor);
}
