/** A plant as a client sends it. The id is the exact int64, never a double. */
export type Plant = { id: bigint; name: string; tag?: string };

/** Who sent the request: the claims of a verified access token that are stored, never the token. */
export type Principal = { subject: string; issuer?: string; tokenId?: string };

/** One request to create a plant, with everything that is stored with it. */
export type Creation = {
  plant: Plant;
  principal: Principal;
  /** `requestBy` says who chose the request id `request`: an id that a client chose proves nothing. */
  origin: { address: string; request: string; requestBy: 'gateway' | 'client' | 'api' };
  /** Hash of the Idempotency-Key, hexadecimal. */
  keyHash?: string;
  /** W3C trace context, passed on to the worker. */
  traceparent?: string;
  /** When the answer is due, on the clock of `performance.now()`. */
  deadline: number;
};

/** The outcome of a creation. `not-stored`: this request stored nothing, for certain. `unknown`: it may be stored. */
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

/** A subject is unique only within its issuer (RFC 7519 §4.1.2), so both are compared. */
export function sameSubject(a: Principal, b: Principal): boolean {
  return a.subject === b.subject && a.issuer === b.issuer;
}
