import { type ErrorBody, type ErrorName, errorCatalogue } from '@plant-store/contracts/error-catalogue';
import type { FastifyReply } from 'fastify';

/** Seconds a client should wait before it repeats a request that was answered with 503. */
const RETRY_AFTER_S = 1;

/** The `WWW-Authenticate` header for each error about access tokens (RFC 6750 §3). */
const CHALLENGES: Partial<Record<ErrorName, string>> = {
  tokenMissing: 'Bearer realm="plants"',
  tokenInvalid: 'Bearer realm="plants", error="invalid_token"',
  scopeInsufficient: 'Bearer realm="plants", error="insufficient_scope"',
};

/** A refusal with its entry in the error catalogue. `message` is for the caller and says what to change. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly error: ErrorName;
  readonly status: number;

  /** @param status where HTTP has a code of its own for the same error (408, 417, 431 for a malformed request) */
  constructor(error: ErrorName, message?: string, status?: number) {
    super(message ?? errorCatalogue[error].message);
    this.error = error;
    this.status = status ?? errorCatalogue[error].status;
  }
}

export function errorBody(refusal: ApiError): ErrorBody {
  return { error: errorCatalogue[refusal.error].error, message: refusal.message };
}

/** Headers that belong to a refusal, beside those of every answer. */
export function errorHeaders(refusal: ApiError): Record<string, string> {
  const challenge = CHALLENGES[refusal.error];
  return {
    'content-type': 'application/json; charset=utf-8',
    ...(challenge !== undefined && { 'www-authenticate': challenge }),
    ...(refusal.status === 405 && { allow: 'POST' }),
    ...(refusal.status === 503 && { 'retry-after': String(RETRY_AFTER_S) }),
  };
}

export function refuse(reply: FastifyReply, refusal: ApiError): FastifyReply {
  reply.refusedWith = errorCatalogue[refusal.error].error;
  return reply
    .code(refusal.status)
    .headers(errorHeaders(refusal))
    .send(JSON.stringify(errorBody(refusal)));
}
