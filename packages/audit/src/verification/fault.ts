/** An inconsistency that verification found, and where. */
export type Fault = {
  kind: FaultKind;
  chain?: number;
  height?: number;
  /** The sequence number of an anchor. */
  anchor?: number;
  plant?: bigint;
  detail: string;
};

export type FaultKind =
  /** The stored document does not have the block format, or has a field that no hash covers. */
  | 'malformed block'
  | 'missing block'
  | 'second block at one height'
  /** The Merkle root does not match the entries: an entry was changed, removed, added or moved. */
  | 'entries changed'
  /** The block's hash does not match its header. */
  | 'header changed'
  /** The block's `previous` is not the hash of the block before it: one of the two was replaced. */
  | 'chain broken'
  /** The chain ends before the height that an anchor names. */
  | 'tail missing'
  /** The chain is consistent, but differs from the hash that an anchor names: the whole chain was rewritten. */
  | 'history rewritten'
  | 'malformed anchor'
  | 'missing anchor'
  /** The anchor is not signed by a known key. */
  | 'forged anchor'
  /** The anchor's `previous` is not the hash of the anchor before it. */
  | 'anchors broken'
  /** An anchor that was kept outside the database differs from the stored one. */
  | 'anchor replaced'
  | 'plant audited twice'
  | 'plant missing'
  | 'plant changed'
  | 'plant not audited';

export type Report = (fault: Fault) => void;

/** One line for the operator: where the fault is, its kind and its detail. */
export function faultLine({ kind, chain, height, anchor, plant, detail }: Fault): string {
  const where = [
    ...(chain === undefined ? [] : [`chain ${chain}`]),
    ...(height === undefined ? [] : [`height ${height}`]),
    ...(anchor === undefined ? [] : [`anchor ${anchor}`]),
    ...(plant === undefined ? [] : [`plant ${plant}`]),
  ];
  return `${where.join(', ')}: ${kind}: ${detail}`;
}
