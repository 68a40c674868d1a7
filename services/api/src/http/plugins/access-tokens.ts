import fastifyJwt, { type FastifyJWTOptions } from '@fastify/jwt';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import plugin from 'fastify-plugin';
import type { ApiConfig } from '../../config.ts';
import type { Principal } from '../../domain/creation.ts';
import type { JwksKeys } from '../../tokens/jwks.ts';
import { type Claims, principalOf } from '../../tokens/principal-of.ts';
import { verifiedTokens } from '../../tokens/verified-tokens.ts';
import { ApiError } from '../api-error.ts';

declare module 'fastify' {
  interface FastifyRequest {
    principal: Principal;
  }
}

/** RFC 6750 §2.1; the scheme is case-insensitive (RFC 9110 §11.1). */
const BEARER = /^Bearer +([A-Za-z0-9\-._~+/]+=*) *$/i;

export type AccessTokenOptions = {
  tokens: ApiConfig['tokens'];
  /** HS256's key, where the source is a shared secret. */
  secret?: string;
  /** The issuer's keys, where the source is a key set. */
  jwks?: JwksKeys;
};

/**
 * Checks the access token of every request before its body is read. Keys and algorithms come only from the configured
 * source, never from the token. The answer to an invalid token does not say what is wrong with it.
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
    },
  });
  const verified = verifiedTokens();

  app.decorateRequest('principal');
  app.addHook('onRequest', (request, _reply, next) => {
    const token = bearerToken(request);
    if (token === undefined) return next(new ApiError('tokenMissing'));

    const keys = options.jwks?.version() ?? 0;
    const known = verified.find(token, keys);
    if (known !== undefined) {
      request.principal = known;
      return next();
    }
    if (options.jwks !== undefined) {
      request.jwtVerify<Claims>().then(
        (claims) => next(admit(request, token, keys, claims)),
        (error) => next(error instanceof ApiError ? error : new ApiError('tokenInvalid')),
      );
      return;
    }
    let claims: Claims;
    try {
      claims = app.jwt.verify<Claims>(token);
    } catch {
      return next(new ApiError('tokenInvalid'));
    }
    next(admit(request, token, keys, claims));
  });

  /** Sets the request's principal from a verified token's claims; returns a refusal if they do not suffice. */
  function admit(request: FastifyRequest, token: string, keys: number, claims: Claims): ApiError | undefined {
    const principal = principalOf(claims);
    if (principal === undefined) return new ApiError('tokenInvalid');
    if (tokens.scope !== undefined && !scopesOf(claims).includes(tokens.scope))
      return new ApiError('scopeInsufficient');
    verified.add(token, keys, principal, Number(claims['exp']) * 1_000 + tokens.clockToleranceMs);
    request.principal = principal;
    return undefined;
  }
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

/** RFC 8693 §4.2: one string, separated by spaces. */
function scopesOf({ scope }: Claims): string[] {
  return typeof scope === 'string' ? scope.split(' ') : [];
}
