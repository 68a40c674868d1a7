import { hash } from 'node:crypto';
import { ApiError } from './api-error.ts';

/** Visible ASCII; a bare key does not begin with a quote, since a quoted key does. */
const BARE = /^(?!")[\x21-\x7e]{1,255}$/;
/** A structured-field string (RFC 9651 §3.3.3) of visible characters. */
const QUOTED = /^"((?:[\x21\x23-\x5b\x5d-\x7e]|\\["\\])+)"$/;
const KEY_CHARACTERS_MAX = 255;

/**
 * The hash of the key in an Idempotency-Key header (draft-ietf-httpapi-idempotency-key-header). A bare key and the same
 * key in quotes have the same hash. Only the hash is stored, never the key.
 * @throws ApiError 1005 for a malformed key. Two headers are malformed too: they arrive joined by ", ".
 */
export function idempotencyKeyHash(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  const key = BARE.test(header) ? header : unquote(header);
  if (key === undefined || key.length > KEY_CHARACTERS_MAX) throw new ApiError('malformedIdempotencyKey');
  return hash('sha256', key, 'hex');
}

function unquote(header: string): string | undefined {
  return QUOTED.exec(header)?.[1]?.replace(/\\(["\\])/g, '$1');
}
