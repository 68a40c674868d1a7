import { type AuditBlock, BLOCK_VERSION, type Published } from './audit-block.ts';
import type { AuditEntry, CreationEntry } from './audit-entry.ts';

const HASH_BYTES = 32;

/** A block as MongoDB stores it: hashes as bytes, all other fields unchanged. */
export type StoredBlock = ReturnType<typeof storedBlock>;

export function storedBlock({ previous, root, hash, entries, ...rest }: AuditBlock) {
  return {
    ...rest,
    previous: bytes(previous),
    root: bytes(root),
    hash: bytes(hash),
    entries: entries.map((entry) => ('plant' in entry ? { ...entry, content: bytes(entry.content) } : entry)),
  };
}

/** A stored document does not have the block format; the message says why. */
export class MalformedBlock extends Error {
  override readonly name = 'MalformedBlock';
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads a stored block strictly: a field that the format does not have is refused, since no hash would cover it.
 * @throws MalformedBlock naming the field and the rule
 */
export function readBlock(document: Fields): AuditBlock {
  only(document, 'block', [
    '_id',
    'version',
    'chain',
    'height',
    'previous',
    'root',
    'hash',
    'entries',
    'sealer',
    'time',
    'published',
  ]);
  if (document['version'] !== BLOCK_VERSION)
    throw new MalformedBlock(`version is ${String(document['version'])}, not ${BLOCK_VERSION}`);
  const { entries } = document;
  if (!Array.isArray(entries)) throw new MalformedBlock('entries is no array');
  return {
    version: BLOCK_VERSION,
    chain: wholeNumber(document, 'chain'),
    height: wholeNumber(document, 'height'),
    previous: hex(document, 'previous'),
    root: hex(document, 'root'),
    hash: hex(document, 'hash'),
    entries: entries.map((entry: Fields) => readEntry(entry)),
    sealer: text(document, 'sealer'),
    time: time(document, 'time'),
    ...(document['published'] !== undefined && { published: readPublished(document['published']) }),
  };
}

function readPublished(value: unknown): Published {
  const published = value as Fields;
  if (typeof value !== 'object' || value === null) throw new MalformedBlock('published is no object');
  only(published, 'time of publication', ['first', 'last']);
  return { first: time(published, 'first'), last: time(published, 'last') };
}

const ENTRY_FIELDS = ['event', 'action', 'who', 'when', 'from'];
const CREATION_FIELDS = [...ENTRY_FIELDS, 'plant', 'content', 'commit'];
const OPERATOR_FIELDS = [...ENTRY_FIELDS, 'outcome', 'target', 'reason', 'before', 'after', 'affected'];

function readEntry(entry: Fields): AuditEntry {
  if (typeof entry !== 'object' || entry === null) throw new MalformedBlock('an entry is no object');
  const common = {
    who: strings(entry, 'who') as AuditEntry['who'],
    when: time(entry, 'when'),
    from: strings(entry, 'from') as AuditEntry['from'],
  };
  const { event, plant, action } = entry;
  if (typeof event === 'bigint') {
    only(entry, 'entry', CREATION_FIELDS);
    if (action !== 'created') throw new MalformedBlock(`the action of creation ${event} is not "created"`);
    if (plant !== event) throw new MalformedBlock(`creation ${event} names another plant`);
    return {
      event,
      action,
      plant,
      content: hex(entry, 'content'),
      commit: objectId(entry, 'commit'),
      ...common,
    };
  }
  objectId(entry, 'event');
  only(entry, 'entry', OPERATOR_FIELDS);
  for (const name of ['reason', 'before', 'after']) if (entry[name] !== undefined) text(entry, name);
  if (entry['affected'] !== undefined) wholeNumber(entry, 'affected');
  for (const name of ['action', 'outcome', 'target']) text(entry, name);
  return { ...entry, ...common } as AuditEntry;
}

function only(fields: Fields, what: string, names: readonly string[]): void {
  const unknown = Object.keys(fields).find((name) => !names.includes(name));
  if (unknown !== undefined) throw new MalformedBlock(`the ${what} has an unknown field ${unknown}`);
}

function wholeNumber(fields: Fields, name: string): number {
  const value = fields[name];
  if (!Number.isSafeInteger(value)) throw new MalformedBlock(`${name} is no whole number`);
  return value as number;
}

function text(fields: Fields, name: string): string {
  const value = fields[name];
  if (typeof value !== 'string') throw new MalformedBlock(`${name} is no string`);
  return value;
}

function time(fields: Fields, name: string): Date {
  const value = fields[name];
  if (!(value instanceof Date) || Number.isNaN(value.getTime()))
    throw new MalformedBlock(`${name} is no time`);
  return value;
}

function objectId(fields: Fields, name: string): CreationEntry['commit'] {
  const value = fields[name] as { _bsontype?: string } | undefined;
  if (value?._bsontype !== 'ObjectId') throw new MalformedBlock(`${name} is no ObjectId`);
  return value as CreationEntry['commit'];
}

function strings(fields: Fields, name: string): Record<string, string> {
  const value = fields[name];
  if (typeof value !== 'object' || value === null) throw new MalformedBlock(`${name} is no object`);
  for (const member of Object.keys(value)) text(value as Fields, member);
  return value as Record<string, string>;
}

/** The driver gives bytes as Buffer (promoteBuffers) or as Binary. */
function hex(fields: Fields, name: string): string {
  const value = fields[name] as { value?: () => Uint8Array } | undefined;
  const raw = Buffer.isBuffer(value) ? value : value?.value?.();
  if (!(raw instanceof Uint8Array) || raw.length !== HASH_BYTES)
    throw new MalformedBlock(`${name} is no hash`);
  return Buffer.from(raw.buffer, raw.byteOffset, HASH_BYTES).toString('hex');
}

function bytes(hexadecimal: string): Buffer {
  return Buffer.from(hexadecimal, 'hex');
}
