import fastifyJwt, { type FastifyJWTOptions } from '@fastify/jwt';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import plugin from 'fastify-plugin';
import type { ApiConfig } from '../../config.ts';
import type { Principal } from '../../domain/creation.ts';
import type { JwksKeys } from '../../tokens/jwks.ts';
import { ApiError } from '../api-error.ts';

declare module 'fastify' {
  interface FastifyRequest {
    principal: Principal;
  }
}

/** Verified tokens kept, and for how long at most; a token is never kept beyond its own `exp`. */
const CACHED_TOKENS = 5_000;
const CACHED_MS_MAX = 60_000;

/** RFC 6750 §2.1; the scheme is case-insensitive (RFC 9110 §11.1). */
const BEARER = /^Bearer +([A-Za-z0-9\-._~+/]+=*) *$/i;

export type AccessTokenOptions = {
  tokens: ApiConfig['tokens'];
  /** HS256's key, where the source is a shared secret. */
  secret?: string;
  /** Where the source is a key set. */
  jwks?: JwksKeys;
};

type Claims = { sub?: unknown; iss?: unknown; jti?: unknown; scope?: unknown };

/**
 * Judges the access token of every request before its body is read. Keys and algorithms come from the configured
 * source alone, never from the token; whatever the reason, a rejected token is told the same.
 */
export const accessTokens = plugin(async (app: FastifyInstance, options: AccessTokenOptions) => {
  const { tokens } = options;
  await app.register(fastifyJwt, {
    secret: staticKey(options) ?? jwksLookup(options.jwks as JwksKeys),
    decode: { complete: true },
    verify: {
      extractToken: bearerToken,
      algorithms: [...tokens.keys.algorithms],
      requiredClaims: ['exp', 'sub', ...(tokens.issuer ? ['iss'] : []), ...(tokens.audience ? ['aud'] : [])],
      ...(tokens.issuer !== undefined && { allowedIss: tokens.issuer }),
      ...(tokens.audience !== undefined && { allowedAud: tokens.audience }),
      clockTolerance: tokens.clockToleranceMs,
      cache: CACHED_TOKENS,
      cacheTTL: CACHED_MS_MAX,
    },
  });

  app.decorateRequest('principal');
  app.addHook('onRequest', (request, _reply, next) => {
    const token = bearerToken(request);
    if (token === undefined) return next(new ApiError('tokenMissing'));
    if (tokens.keys.source !== 'jwks')
      return next(admit(request, () => app.jwt.verify<Claims>(token), tokens.scope));
    request.jwtVerify<Claims>().then(
      (claims) => next(admit(request, () => claims, tokens.scope)),
      (error) => next(error instanceof ApiError ? error : new ApiError('tokenInvalid')),
    );
  });
});

function staticKey({ tokens: { keys }, secret }: AccessTokenOptions): Secret | undefined {
  if (keys.source === 'secret') return secret as string;
  if (keys.source === 'public-key') return { public: keys.pem };
  return undefined;
}

type Secret = FastifyJWTOptions['secret'];
type DecodedToken = { header: { kid?: unknown; alg?: unknown } };

const jwksLookup =
  (jwks: JwksKeys): Secret =>
  (_request: FastifyRequest, token: unknown) =>
    jwksKey(jwks, token as DecodedToken);

async function jwksKey(jwks: JwksKeys, { header }: DecodedToken): Promise<string> {
  if (typeof header.kid !== 'string') throw new ApiError('tokenInvalid');
  const key = await jwks.find(header.kid);
  if (key === 'unavailable') {
    throw new ApiError('notStored', 'not stored, for certain: access tokens cannot be judged at the moment');
  }
  if (key === 'unknown' || !key.algorithms.includes(String(header.alg))) throw new ApiError('tokenInvalid');
  return key.pem;
}

function bearerToken(request: FastifyRequest): string | undefined {
  const header = request.headers.authorization;
  return header === undefined ? undefined : BEARER.exec(header)?.[1];
}

/** Takes the principal from a good token; the refusal of a bad one otherwise. */
function admit(
  request: FastifyRequest,
  verify: () => Claims,
  scope: string | undefined,
): ApiError | undefined {
  let claims: Claims;
  try {
    claims = verify();
  } catch {
    return new ApiError('tokenInvalid');
  }
  if (typeof claims.sub !== 'string' || claims.sub === '' || !isStorable(claims)) {
    return new ApiError('tokenInvalid');
  }
  if (scope !== undefined && !scopesOf(claims).includes(scope)) return new ApiError('scopeInsufficient');
  request.principal = {
    subject: claims.sub,
    ...(typeof claims.iss === 'string' && { issuer: claims.iss }),
    ...(typeof claims.jti === 'string' && { tokenId: claims.jti }),
  };
  return undefined;
}

/** A lone surrogate would be stored as another character, and a subject compare unequal to itself. */
function isStorable({ sub, iss, jti }: Claims): boolean {
  return [sub, iss, jti].every((claim) => typeof claim !== 'string' || claim.isWellFormed());
}

/** RFC 8693 §4.2: one string, separated by spaces. */
function scopesOf({ scope }: Claims): string[] {
  return typeof scope === 'string' ? scope.split(' ') : [];
}
