import { hash } from 'node:crypto';
import type { Creator, Origin, PlantDocument } from '@plant-store/contracts/plant-document';

/** One thing that happened: what, who, when, from where. Never a token. */
export type AuditEntry = {
  /** Names the event once and for all: no two entries of the log have the same. */
  event: string;
  /** What was done, in the past tense: `created` for a plant. */
  action: string;
  /** The plant's id, where the event is about a plant. */
  plant?: bigint;
  /** SHA-256 of the plant's canonical content, so that a later change of the record shows. */
  content?: Uint8Array;
  /** What an operator acted on, where the event is not about a plant: a job or a queue. */
  target?: string;
  who: Creator;
  when: Date;
  from: Origin;
};

function creationEvent(plant: bigint): string {
  return `created:${plant}`;
}

export function creationEntry({ _id, name, tag, created, by, from }: PlantDocument): AuditEntry {
  return {
    event: creationEvent(_id),
    action: 'created',
    plant: _id,
    content: contentHash({ id: _id, name, tag }),
    who: by,
    when: created,
    from,
  };
}

/** SHA-256 of what the client stored, as canonical JSON; the id in decimal digits, since JSON numbers are doubles. */
export function contentHash({
  id,
  name,
  tag,
}: {
  id: bigint;
  name: string;
  tag?: string | undefined;
}): Buffer {
  return hash('sha256', JSON.stringify({ id: id.toString(), name, tag }), 'buffer');
}

/**
 * The bytes of an entry that are hashed: canonical JSON (RFC 8785), int64 in decimal digits, bytes in hexadecimal,
 * times in ISO 8601. With members written in the order of their names, and strings as the only values,
 * JSON.stringify is that canonical form.
 */
export function canonicalEntry({
  event,
  action,
  plant,
  content,
  target,
  who,
  when,
  from,
}: AuditEntry): string {
  return JSON.stringify({
    action,
    content: content && Buffer.from(content.buffer, content.byteOffset, content.length).toString('hex'),
    event,
    from: { address: from.address, instance: from.instance, request: from.request },
    plant: plant?.toString(),
    target,
    when: when.toISOString(),
    who: { iss: who.iss, jti: who.jti, sub: who.sub },
  });
}
