import {
  type AuditBlock,
  type ChainHead,
  entriesRoot,
  GENESIS,
  headerHash,
  headerOf,
} from '../ledger/audit-block.ts';
import { MalformedBlock, readBlock } from '../ledger/stored-block.ts';
import type { Fault, Report } from './fault.ts';

/** The head of the chain that an anchor names. */
export type AnchoredHead = ChainHead & { anchor: number; entries: number };

/** Where verification begins: after a head that an anchor names, or at the beginning of the chain. */
export type ChainStart = ChainHead & { entries: number };

export const CHAIN_START: ChainStart = { ...GENESIS, entries: 0 };

/**
 * Verifies one chain as a stream: its blocks in the order of their heights, and its anchored heads in the order of the
 * anchors. If the chain differs from its anchors, only the first difference is reported: it causes all later ones.
 * @returns how many blocks and entries the chain has after its start
 */
export async function verifyChain(
  chain: number,
  start: ChainStart,
  blocks: AsyncIterable<Record<string, unknown>>,
  anchored: AsyncIterable<AnchoredHead>,
  { report, onBlock }: { report: Report; onBlock: (block: AuditBlock) => void | Promise<void> },
): Promise<{ blocks: number; entries: number }> {
  const heads = anchored[Symbol.asyncIterator]();
  const nextHead = async () => {
    const { value, done } = await heads.next();
    return done === true ? undefined : (value as AnchoredHead);
  };
  const fault = (kind: Fault['kind'], height: number, detail: string, anchor?: number) =>
    report({ kind, chain, height, ...(anchor !== undefined && { anchor }), detail });

  let { height, entries } = start;
  /** Undefined after a block that could not be read or is missing. */
  let previous: string | undefined = start.hash;
  let head = await nextHead();
  let differs = false;
  let count = 0;
  for await (const document of blocks) {
    count++;
    const stored = Number(document['height']);
    if (stored > height + 1) {
      fault('missing block', height + 1, `the next block has height ${stored}`);
      previous = undefined;
    }
    if (stored <= height) fault('second block at one height', stored, 'one of them was put in');
    height = stored;

    const block = readOrReport(document, fault);
    if (block === undefined) {
      previous = undefined;
      continue;
    }
    entries += block.entries.length;
    if (previous !== undefined && block.previous !== previous) {
      fault('chain broken', height, 'it does not name the hash of the block before it');
    }
    if (entriesRoot(block.entries) !== block.root) {
      fault('entries changed', height, 'the entries do not give the Merkle root');
    }
    if (headerHash(headerOf(block)) !== block.hash) {
      fault('header changed', height, 'the header does not give the hash');
    }
    previous = block.hash;
    for (; head !== undefined && head.height <= height; head = await nextHead()) {
      if (head.height < height || differs) continue;
      differs = head.hash !== block.hash || head.entries !== entries;
      if (differs)
        fault('history rewritten', height, `anchor ${head.anchor} names another block here`, head.anchor);
    }
    await onBlock(block);
  }
  while (head !== undefined && head.height <= height) head = await nextHead();
  if (head !== undefined) {
    fault('tail missing', height + 1, `anchor ${head.anchor} names height ${head.height}`, head.anchor);
  }
  await heads.return?.();
  return { blocks: count, entries: entries - start.entries };
}

function readOrReport(
  document: Record<string, unknown>,
  fault: (kind: Fault['kind'], height: number, detail: string) => void,
): AuditBlock | undefined {
  try {
    return readBlock(document);
  } catch (error) {
    if (!(error instanceof MalformedBlock)) throw error;
    fault('malformed block', Number(document['height']), error.message);
    return undefined;
  }
}
