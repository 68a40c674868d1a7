import type { Principal } from '../domain/creation.ts';

/** The bound that OpenID Connect sets for `sub`; what is stored with each plant has to be bounded. */
const CLAIM_CHARACTERS_MAX = 255;
/** In seconds the year 5138, in milliseconds 1973: a token with a later `exp` has the wrong unit, or never ends. */
const EXPIRY_S_MAX = 100_000_000_000;

export type Claims = Readonly<Record<string, unknown>>;

/**
 * Who acts, by the claims of a token whose signature and times were verified; `undefined` where a claim is of the wrong
 * type or beyond its bound.
 */
export function principalOf({ sub, iss, jti, exp, iat }: Claims): Principal | undefined {
  if (!isName(sub) || sub === '') return undefined;
  if (iss !== undefined && !isName(iss)) return undefined;
  if (jti !== undefined && !isName(jti)) return undefined;
  if (!isTime(exp) || exp > EXPIRY_S_MAX) return undefined;
  if (iat !== undefined && !isTime(iat)) return undefined;
  return {
    subject: sub,
    ...(iss !== undefined && { issuer: iss }),
    ...(jti !== undefined && { tokenId: jti }),
  };
}

/** A lone surrogate would be stored as another character, and a subject compare unequal to itself. */
function isName(claim: unknown): claim is string {
  return typeof claim === 'string' && claim.length <= CLAIM_CHARACTERS_MAX && claim.isWellFormed();
}

/** A NumericDate (RFC 7519 §2). JSON spells infinity as a number that is too large: `1e999`. */
function isTime(claim: unknown): claim is number {
  return typeof claim === 'number' && Number.isFinite(claim);
}
