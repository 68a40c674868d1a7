import { AUDIT_ANCHORS, AUDIT_BLOCKS } from '@plant-store/contracts/plant-document';
import type { Db, Document } from 'mongodb';
import { type Anchor, readAnchor } from '../ledger/anchor.ts';
import type { AuditBlock, BlockHeader } from '../ledger/audit-block.ts';
import { headerOf } from '../ledger/audit-block.ts';
import { readBlock } from '../ledger/stored-block.ts';
import type { AnchoredHead } from '../verification/verify-chain.ts';

/** Blocks fetched at once: some megabytes. */
const BLOCKS_AT_ONCE = 50;
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

    async anchor(sequence: number): Promise<Anchor | undefined> {
      return anchorOf(await anchors.findOne({ _id: sequence }, bounded));
    },

    /** The newest anchor that was made by then. */
    async anchorBefore(time: Date): Promise<Anchor | undefined> {
      const filter = { time: { $lte: time.toISOString() } };
      return anchorOf(await anchors.findOne(filter, { ...bounded, sort: { _id: -1 } }));
    },

    /** The oldest anchor that names this height of the chain or a later one. */
    async anchorAfter(chain: number, height: number): Promise<Anchor | undefined> {
      const filter = { heads: { $elemMatch: { chain, height: { $gte: height } } } };
      return anchorOf(await anchors.findOne(filter, { ...bounded, sort: { _id: 1 } }));
    },

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
      const found = blocks.find(
        { chain, height: { $gt: after, $lte: upTo } },
        { ...bounded, sort: { height: 1 } },
      );
      const headers: BlockHeader[] = [];
      for await (const block of found) headers.push(headerOf(readBlock(block)));
      return headers;
    },
  };
}

function anchorOf(stored: Document | null): Anchor | undefined {
  if (stored === null) return undefined;
  const { _id, emitted: _emitted, ...anchor } = stored;
  return readAnchor(anchor);
}
