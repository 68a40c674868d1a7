/** Who acts: the claims of a verified access token that are kept, never the token. */
export type Principal = { subject: string; issuer?: string; tokenId?: string };

/** A subject is unique within its issuer alone (RFC 7519 §4.1.2). */
export function sameSubject(a: Principal, b: Principal): boolean {
  return a.subject === b.subject && a.issuer === b.issuer;
}
