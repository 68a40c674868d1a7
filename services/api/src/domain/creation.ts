/** A plant as a client sends it. The id is the exact int64, never a double. */
export type Plant = { id: bigint; name: string; tag?: string };

/** Who acts: the claims of a verified access token that are kept, never the token. */
export type Principal = { subject: string; issuer?: string; tokenId?: string };

/** One request to create a plant, with everything that is stored beside it. */
export type Creation = {
  plant: Plant;
  principal: Principal;
  /** `requestBy` tells who chose the id `request`: an id of a client's own proves nothing. */
  origin: { address: string; request: string; requestBy: 'gateway' | 'client' | 'api' };
  /** Hash of the Idempotency-Key, hexadecimal. */
  keyHash?: string;
  /** W3C trace context, passed on to the worker. */
  traceparent?: string;
  /** When the answer is due, on the clock of `performance.now()`. */
  deadline: number;
};

/** What became of a creation. `not-stored` is certain; `unknown` is not. */
export type Outcome =
  | 'created'
  | 'replayed'
  | 'exists'
  | 'exists-identical'
  | 'key-reused'
  | 'not-stored'
  | 'unknown';

/** Whether two plants with one id are the same plant. An absent tag differs from an empty one. */
export function sameContent(a: Plant, b: Plant): boolean {
  return a.name === b.name && a.tag === b.tag;
}

/** A subject is unique within its issuer alone (RFC 7519 §4.1.2). */
export function sameSubject(a: Principal, b: Principal): boolean {
  return a.subject === b.subject && a.issuer === b.issuer;
}
