/** Something that does not fit together, and where. */
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
  /** What is stored is no block of the format, or has a field that nothing covers. */
  | 'malformed block'
  | 'missing block'
  | 'second block at one height'
  /** Its entries do not give its Merkle root: one was changed, removed, added or moved. */
  | 'entries changed'
  /** Its header does not give its hash. */
  | 'header changed'
  /** It does not follow the block before it: one of the two was replaced. */
  | 'chain broken'
  /** The chain ends before the height that an anchor names. */
  | 'tail missing'
  /** Chain and hashes fit, but are not what an anchor names: all of it was written anew. */
  | 'history rewritten'
  | 'malformed anchor'
  | 'missing anchor'
  /** Not signed by a key that is known. */
  | 'forged anchor'
  /** It does not follow the anchor before it. */
  | 'anchors broken'
  /** An anchor that was kept outside is another than the stored one. */
  | 'anchor replaced'
  | 'plant audited twice'
  | 'plant missing'
  | 'plant changed'
  | 'plant not audited';

export type Report = (fault: Fault) => void;

/** One line for people: where, which kind, and what it means. */
export function faultLine({ kind, chain, height, anchor, plant, detail }: Fault): string {
  const where = [
    ...(chain === undefined ? [] : [`chain ${chain}`]),
    ...(height === undefined ? [] : [`height ${height}`]),
    ...(anchor === undefined ? [] : [`anchor ${anchor}`]),
    ...(plant === undefined ? [] : [`plant ${plant}`]),
  ];
  return `${where.join(', ')}: ${kind}: ${detail}`;
}
