import { hash } from 'node:crypto';
import type { Creator, Origin, PlantDocument } from '@plant-store/contracts/plant-document';

/** The driver's ObjectId type, taken from the contract because this package's pure code does not import the driver. */
type ObjectId = PlantDocument['commit'];

/** One event: what happened, who did it, when and from where. It never holds a token. Hashes are in hexadecimal. */
export type AuditEntry = CreationEntry | OperatorEntry;

/** A plant was created. */
export type CreationEntry = {
  /** Identifies the event: no two entries of the log have the same value. For a creation it is the plant's id. */
  event: bigint;
  action: 'created';
  plant: bigint;
  /** SHA-256 of the plant's canonical content, so that a later change of the record shows. */
  content: string;
  /** The group commit that stored it. */
  commit: ObjectId;
  who: Creator;
  when: Date;
  from: Origin;
};

/** An action of an operator that was done, was refused or failed. */
export type OperatorEntry = {
  event: ObjectId;
  /** In the past tense, as `paused`. */
  action: string;
  outcome: 'done' | 'refused' | 'failed';
  /** The object of the action: a queue, a job, a collection. */
  target: string;
  reason?: string;
  /** Values before and after, where the action changed one. */
  before?: string;
  after?: string;
  /** How many jobs or plants it affected. */
  affected?: number;
  who: Creator;
  when: Date;
  from: Origin;
};

export function creationEntry({ _id, name, tag, created, commit, by, from }: PlantDocument): CreationEntry {
  return {
    event: _id,
    action: 'created',
    plant: _id,
    content: contentHash({ id: _id, name, tag }),
    commit,
    who: by,
    when: created,
    from,
  };
}

/** SHA-256 of what the client stored, as canonical JSON; the id in decimal digits, since JSON numbers are doubles. */
export function contentHash(content: { id: bigint; name: string; tag?: string | undefined }): string {
  return hash('sha256', canonicalContent(content), 'hex');
}

export function canonicalContent({
  id,
  name,
  tag,
}: {
  id: bigint;
  name: string;
  tag?: string | undefined;
}): string {
  return JSON.stringify({ id: id.toString(), name, tag });
}

/** A key for events in a Set or Map, which would compare ObjectIds by reference. */
export function eventKey(event: AuditEntry['event']): bigint | string {
  return typeof event === 'bigint' ? event : event.toHexString();
}

/**
 * The text of an entry that is hashed: canonical JSON (RFC 8785), int64 in decimal digits, times in ISO 8601. The
 * members are concatenated by hand in the order of their names, since this is the costliest step of sealing (0.9 µs;
 * JSON.stringify takes 1.5).
 */
export function canonicalEntry(entry: AuditEntry): string {
  const tail = `"when":"${isoTime(entry.when)}","who":${canonicalStrings(entry.who)}}`;
  const from = canonicalStrings(entry.from);
  if ('plant' in entry) {
    const { commit, content, event, plant } = entry;
    return `{"action":"created","commit":"${commit.toHexString()}","content":"${content}","event":"${event}","from":${from},"plant":"${plant}",${tail}`;
  }
  const { action, affected, after, before, event, outcome, reason, target } = entry;
  const head = JSON.stringify({ action, affected, after, before, event: event.toHexString() });
  const middle = JSON.stringify({ outcome, reason, target });
  return `${head.slice(0, -1)},"from":${from},${middle.slice(1, -1)},${tail}`;
}

/** Printable ASCII without `"` and `\`: JSON needs no escapes for it. */
const PLAIN = /^[ !#-[\]-~]*$/;

function quoted(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** All members of the record are written: a member that was not hashed could be changed unnoticed. */
function canonicalStrings(record: Readonly<Record<string, string | undefined>>): string {
  let members = '';
  for (const name of Object.keys(record).sort()) {
    const value = record[name];
    if (value !== undefined) members += `${members === '' ? '' : ','}${quoted(name)}:${quoted(value)}`;
  }
  return `{${members}}`;
}

/** The last time that was formatted: plants of one commit share their time, and formatting costs as much as a hash. */
let lastTime = { ms: Number.NaN, text: '' };

function isoTime(time: Date): string {
  const ms = time.getTime();
  if (ms !== lastTime.ms) lastTime = { ms, text: time.toISOString() };
  return lastTime.text;
}
