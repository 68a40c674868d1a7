import { hash, type KeyObject, sign, verify } from 'node:crypto';
import { GENESIS } from './audit-block.ts';

/** The head of a chain when an anchor was made, and how many entries the chain had up to that block. */
export type AnchoredHead = { chain: number; height: number; hash: string; entries: number };

export type AnchorBody = {
  version: 1;
  /** 1 for the first anchor, then one more each. */
  sequence: number;
  /** ISO 8601, by the clock of the worker that made it. */
  time: string;
  /** The hash of the anchor before it; zeros for the first. */
  previous: string;
  /** One for each chain that has blocks, in the order of the chains. */
  heads: AnchoredHead[];
  /** Entries of all chains together. */
  entries: number;
  /** The id of the key that signed the anchor. */
  key: string;
};

/** The heads of all chains at one moment, signed: evidence once it is kept where no database admin can change it. */
export type Anchor = AnchorBody & { signature: string };

export type SigningKey = { id: string; privateKey: KeyObject };

export function makeAnchor(
  previous: Anchor | undefined,
  heads: readonly AnchoredHead[],
  time: Date,
  { id, privateKey }: SigningKey,
): Anchor {
  const body: AnchorBody = {
    version: 1,
    sequence: (previous?.sequence ?? 0) + 1,
    time: time.toISOString(),
    previous: previous === undefined ? GENESIS.hash : anchorHash(previous),
    heads: heads.toSorted((a, b) => a.chain - b.chain),
    entries: heads.reduce((sum, head) => sum + head.entries, 0),
    key: id,
  };
  return { ...body, signature: sign(null, Buffer.from(canonicalAnchor(body)), privateKey).toString('hex') };
}

/** Canonical JSON (RFC 8785). Without the signature, it is signed; with it, the next anchor's `previous` hashes it. */
export function canonicalAnchor(anchor: AnchorBody & { signature?: string }): string {
  const { entries, heads, key, previous, sequence, signature, time, version } = anchor;
  const sorted = heads.map(({ chain, entries, hash, height }) => ({ chain, entries, hash, height }));
  return JSON.stringify({ entries, heads: sorted, key, previous, sequence, signature, time, version });
}

export function anchorHash(anchor: Anchor): string {
  return hash('sha256', canonicalAnchor(anchor), 'hex');
}

export function isSignedBy({ signature, ...body }: Anchor, publicKey: KeyObject): boolean {
  return verify(null, Buffer.from(canonicalAnchor(body)), publicKey, Buffer.from(signature, 'hex'));
}

type Fields = Readonly<Record<string, unknown>>;

const FIELDS = ['version', 'sequence', 'time', 'previous', 'heads', 'entries', 'key', 'signature'];
const HEAD_FIELDS = ['chain', 'height', 'hash', 'entries'];

/** An anchor from a file or the database, or undefined for anything else. */
export function readAnchor(value: unknown): Anchor | undefined {
  const anchor = value as Fields;
  const isAnchor =
    hasOnly(anchor, FIELDS) &&
    anchor['version'] === 1 &&
    isCount(anchor['sequence']) &&
    isTime(anchor['time']) &&
    isHex(anchor['previous'], 64) &&
    Array.isArray(anchor['heads']) &&
    anchor['heads'].every(isHead) &&
    isCount(anchor['entries']) &&
    isHex(anchor['key'], 16) &&
    isHex(anchor['signature'], 128);
  return isAnchor ? (anchor as Anchor) : undefined;
}

function isHead(head: Fields): boolean {
  const { chain, height, entries, hash } = hasOnly(head, HEAD_FIELDS) ? head : {};
  return isCount(chain) && isCount(height) && isCount(entries) && isHex(hash, 64);
}

function hasOnly(value: unknown, names: readonly string[]): value is Fields {
  return (
    typeof value === 'object' && value !== null && Object.keys(value).every((name) => names.includes(name))
  );
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isTime(value: unknown): boolean {
  return typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value);
}

function isHex(value: unknown, length: number): boolean {
  return typeof value === 'string' && value.length === length && /^[0-9a-f]*$/.test(value);
}
