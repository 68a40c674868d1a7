import type { Principal } from '../domain/creation.ts';

/** The limit that OpenID Connect sets for `sub`. These claims are stored with each plant, so they must be limited. */
const CLAIM_CHARACTERS_MAX = 255;
/** The year 5138. A token with a later `exp` gives it in milliseconds by mistake, or practically never expires. */
const EXPIRY_S_MAX = 100_000_000_000;

export type Claims = Readonly<Record<string, unknown>>;

/**
 * The principal named by the claims of a token whose signature and times were verified; `undefined` when a claim has
 * the wrong type or exceeds its limit.
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

/** A lone surrogate would be stored as another character, so the stored subject would differ from the token's. */
function isName(claim: unknown): claim is string {
  return typeof claim === 'string' && claim.length <= CLAIM_CHARACTERS_MAX && claim.isWellFormed();
}

/** A NumericDate (RFC 7519 §2). `JSON.parse` turns a number that is too large, such as `1e999`, into Infinity. */
function isTime(claim: unknown): claim is number {
  return typeof claim === 'number' && Number.isFinite(claim);
}
