import { constants, createHmac, type KeyLike, type KeyObject, sign } from 'node:crypto';

export type SigningAlgorithm = 'HS256' | 'RS256' | 'PS256' | 'ES256' | 'EdDSA';

/** AUTH_SECRET where a test does not care which. */
export const TEST_SECRET = 'the quick brown fox jumps over 13 lazy dogs';

/** Signatures by hand, because a library refuses to make the tokens that have to be refused. */
const signatures: Record<SigningAlgorithm, (input: string, key: KeyLike) => Buffer> = {
  HS256: (input, key) =>
    createHmac('sha256', key as string)
      .update(input)
      .digest(),
  RS256: (input, key) => sign('sha256', Buffer.from(input), key as KeyObject),
  PS256: (input, key) =>
    sign('sha256', Buffer.from(input), {
      key: key as KeyObject,
      padding: constants.RSA_PKCS1_PSS_PADDING,
      saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
    }),
  ES256: (input, key) =>
    sign('sha256', Buffer.from(input), { key: key as KeyObject, dsaEncoding: 'ieee-p1363' }),
  EdDSA: (input, key) => sign(null, Buffer.from(input), key as KeyObject),
};

export type TokenParts = {
  alg?: SigningAlgorithm;
  key?: KeyLike;
  /** Beside or instead of `alg` and `typ`; an `undefined` member is left out. */
  header?: Record<string, unknown>;
  /** Beside or instead of `sub` and `exp`; an `undefined` member is left out. */
  claims?: Record<string, unknown>;
};

/** A token that is good for an hour, but for what the parts change. */
export function token({
  alg = 'HS256',
  key = TEST_SECRET,
  header = {},
  claims = {},
}: TokenParts = {}): string {
  const input = unsigned(
    { alg, typ: 'JWT', ...header },
    { sub: 'gardener', exp: inSeconds(3_600), ...claims },
  );
  return `${input}.${signatures[alg](input, key).toString('base64url')}`;
}

/** Header and claims as a token begins with them. */
export function unsigned(header: unknown, claims: unknown): string {
  return `${base64url(header)}.${base64url(claims)}`;
}

/** A NumericDate (RFC 7519 §2) so far from now. */
export function inSeconds(seconds: number): number {
  return Math.floor(Date.now() / 1_000) + seconds;
}

function base64url(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
