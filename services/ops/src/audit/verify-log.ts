import { type Anchor, anchorHash } from '@plant-store/audit/ledger/anchor';
import type { AnchorKeys } from '@plant-store/audit/ledger/anchor-keys';
import { type Ledger, mongoLedger } from '@plant-store/audit/mongo/mongo-ledger';
import type { Fault } from '@plant-store/audit/verification/fault';
import { checkSignature, verifyAnchors } from '@plant-store/audit/verification/verify-anchors';
import {
  type AnchoredHead,
  CHAIN_START,
  type ChainStart,
  verifyChain,
} from '@plant-store/audit/verification/verify-chain';
import { PLANTS } from '@plant-store/contracts/plant-document';
import type { Db } from 'mongodb';
import { addPlants, differingPlants } from './compare-plants.ts';
import { ContentComparison } from './content-records.ts';

/** Beyond this, faults are only counted: the first ones show what happened. */
const FAULTS_MAX = 1_000;
/** Shipped anchors that are looked up together: a year has half a million. */
const ANCHORS_AT_ONCE = 500;

export type Verification = {
  faults: Fault[];
  /** Beyond FAULTS_MAX. */
  moreFaults: number;
  chains: number;
  blocks: number;
  entries: number;
  anchors: number;
  plants: number;
  lastAnchor: Anchor | undefined;
};

export type VerifyRequest = {
  keys: AnchorKeys;
  /** Anchors that were kept outside the database. */
  shipped?: AsyncIterable<Anchor>;
  /** Verifies from the last anchor before this time; what that anchor covers is trusted, not verified. */
  since?: Date;
  onProgress: (phase: string, done: number, total: number) => void;
};

/**
 * Verifies the audit log: every anchor, every chain, and the log against the plants in both directions. It streams, so
 * memory is bounded. It may run while workers write: anchors are read first, then the blocks that they name, then the
 * plants, and each difference is read again before it is reported.
 */
export async function verifyLog(
  database: Db,
  { keys, shipped, since, onProgress }: VerifyRequest,
): Promise<Verification> {
  const ledger = mongoLedger(database);
  const faults: Fault[] = [];
  let moreFaults = 0;
  const report = (fault: Fault) => {
    if (faults.length < FAULTS_MAX) faults.push(fault);
    else moreFaults++;
  };

  const vouching = since === undefined ? undefined : await ledger.anchorBefore(since);
  const from = vouching?.sequence ?? 1;
  const anchors = await verifyAnchors(ledger.anchors(from), keys, vouching === undefined, report);
  const kept = await shippedHeads(ledger, shipped, from, keys, report);

  const names = new Set([...(await ledger.chains()), ...anchors.chains, ...kept.map(({ chain }) => chain)]);
  const starts = startsOf(names, vouching);
  const total = await ledger.count(
    new Map(vouching && [...starts].map(([chain, { height }]) => [chain, height])),
  );
  using comparison = new ContentComparison();
  const sums = { chains: 0, blocks: 0, entries: 0 };
  let blocksDone = 0;
  for (const chain of [...names].sort((a, b) => a - b)) {
    const start = starts.get(chain) as ChainStart;
    const heads = mergedHeads(
      ledger.anchoredHeads(chain, from, anchors.last?.sequence ?? 0),
      kept.filter((head) => head.chain === chain),
    );
    const verified = await verifyChain(chain, start, ledger.blocks(chain, start.height), heads, {
      report,
      onBlock: ({ entries }) => {
        for (const entry of entries) {
          if ('plant' in entry) comparison.addLeft({ plant: entry.plant, content: entry.content });
        }
        onProgress('blocks', ++blocksDone, total);
      },
    });
    sums.chains++;
    sums.blocks += verified.blocks;
    sums.entries += verified.entries;
  }

  const stored = await database.collection(PLANTS).estimatedDocumentCount();
  let plantsDone = 0;
  const plants = await addPlants(database, comparison, vouching && since, (count) => {
    plantsDone += count;
    onProgress('plants', plantsDone, Math.max(stored, plantsDone));
  });
  for await (const fault of differingPlants(database, ledger, comparison)) report(fault);
  return { faults, moreFaults, ...sums, anchors: anchors.count, plants, lastAnchor: anchors.last };
}

function startsOf(chains: ReadonlySet<number>, vouching: Anchor | undefined): Map<number, ChainStart> {
  return new Map(
    [...chains].map((chain) => [chain, vouching?.heads.find((head) => head.chain === chain) ?? CHAIN_START]),
  );
}

type ShippedHead = AnchoredHead & { chain: number };

/** The chain heads of shipped anchors that are missing or different in the database; the others add nothing. */
async function shippedHeads(
  ledger: Ledger,
  shipped: AsyncIterable<Anchor> | undefined,
  from: number,
  keys: AnchorKeys,
  report: (fault: Fault) => void,
): Promise<ShippedHead[]> {
  const heads: ShippedHead[] = [];
  const told = new Set<string>();
  for await (const { anchor, stored } of withStored(ledger, shipped, from)) {
    const { sequence } = anchor;
    // A line comes twice after a crash.
    if (told.has(anchorHash(anchor))) continue;
    if (stored !== undefined && anchorHash(stored) === anchorHash(anchor)) continue;
    told.add(anchorHash(anchor));
    if (!checkSignature(anchor, keys, report)) continue;
    if (stored === undefined) {
      report({
        kind: 'missing anchor',
        anchor: sequence,
        detail: 'it was kept outside and is not in the database',
      });
    } else {
      report({
        kind: 'anchor replaced',
        anchor: sequence,
        detail: 'it is not the one that was kept outside',
      });
    }
    heads.push(...anchor.heads.map((head) => ({ ...head, anchor: sequence })));
  }
  return heads;
}

/** Each shipped anchor from a sequence number on, with the stored one of its number. */
async function* withStored(
  ledger: Ledger,
  shipped: AsyncIterable<Anchor> | undefined,
  from: number,
): AsyncIterable<{ anchor: Anchor; stored: Anchor | undefined }> {
  let some: Anchor[] = [];
  for await (const anchor of shipped ?? []) {
    if (anchor.sequence < from) continue;
    some.push(anchor);
    if (some.length < ANCHORS_AT_ONCE) continue;
    yield* lookedUp(some);
    some = [];
  }
  yield* lookedUp(some);

  async function* lookedUp(anchors: readonly Anchor[]) {
    const stored = await ledger.anchorsOf(anchors.map(({ sequence }) => sequence));
    for (const anchor of anchors) yield { anchor, stored: stored.get(anchor.sequence) };
  }
}

/** Both in the order of heights. */
async function* mergedHeads(
  stored: AsyncIterable<AnchoredHead>,
  shipped: readonly AnchoredHead[],
): AsyncIterable<AnchoredHead> {
  const left = shipped.toSorted((a, b) => a.height - b.height);
  for await (const head of stored) {
    while (left[0] !== undefined && left[0].height < head.height) yield left.shift() as AnchoredHead;
    yield head;
  }
  yield* left;
}
