import { type Anchor, anchorHash, isSignedBy, readAnchor } from '../ledger/anchor.ts';
import type { AnchorKeys } from '../ledger/anchor-keys.ts';
import { GENESIS } from '../ledger/audit-block.ts';
import type { Report } from './fault.ts';

export type VerifiedAnchors = {
  count: number;
  last: Anchor | undefined;
  /** All chains that any anchor names: only this shows that a whole chain was deleted. */
  chains: ReadonlySet<number>;
};

/**
 * Verifies anchors as a stream, in the order of their sequence numbers: each must be signed by a known key and follow
 * the one before it. The first one may have any number if the anchors before it were verified otherwise.
 */
export async function verifyAnchors(
  stored: AsyncIterable<{ sequence: number; anchor: unknown }>,
  keys: AnchorKeys,
  isWhole: boolean,
  report: Report,
): Promise<VerifiedAnchors> {
  const chains = new Set<number>();
  let last: Anchor | undefined;
  let expected = 1;
  let previous: string | undefined = isWhole ? GENESIS.hash : undefined;
  let count = 0;
  for await (const { sequence, anchor: document } of stored) {
    count++;
    if ((isWhole || count > 1) && sequence !== expected) {
      report({ kind: 'missing anchor', anchor: expected, detail: `the next anchor is ${sequence}` });
      previous = undefined;
    }
    expected = sequence + 1;
    const anchor = readAnchor(document);
    if (anchor === undefined || anchor.sequence !== sequence) {
      report({ kind: 'malformed anchor', anchor: sequence, detail: 'it is no anchor of the format' });
      previous = undefined;
      continue;
    }
    checkSignature(anchor, keys, report);
    if (previous !== undefined && anchor.previous !== previous) {
      report({
        kind: 'anchors broken',
        anchor: sequence,
        detail: 'it does not name the hash of the anchor before it',
      });
    }
    for (const { chain } of anchor.heads) chains.add(chain);
    previous = anchorHash(anchor);
    last = anchor;
  }
  return { count, last, chains };
}

/** @returns whether it is signed by a known key. */
export function checkSignature(anchor: Anchor, keys: AnchorKeys, report: Report): boolean {
  const key = keys.get(anchor.key);
  if (key === undefined) {
    const detail = `it is signed by the key ${anchor.key}, which is not among those given`;
    report({ kind: 'forged anchor', anchor: anchor.sequence, detail });
    return false;
  }
  const isSigned = isSignedBy(anchor, key);
  if (!isSigned) {
    report({ kind: 'forged anchor', anchor: anchor.sequence, detail: 'its signature does not fit' });
  }
  return isSigned;
}
