/**
 * Every answer other than 200, by name. `error` is the stable number on which clients branch; it never gets a second
 * meaning. `message` is the default text, used where the refusing code gives no more precise one.
 */
export const errorCatalogue = {
  malformedJson: { error: 1000, status: 400, message: 'the body must be one JSON value in UTF-8' },
  invalidPlant: { error: 1001, status: 400, message: 'the body must be a plant: { id, name, tag? }' },
  plantExists: {
    error: 1002,
    status: 400,
    message: 'a plant with this id exists with other content or from another subject: choose another id',
  },
  plantExistsIdentical: {
    error: 1008,
    status: 400,
    message:
      'this very plant exists, created by you: an earlier request has succeeded, there is nothing to repeat',
  },
  unsupportedMediaType: {
    error: 1003,
    status: 400,
    message: 'send Content-Type: application/json in UTF-8, without a content coding',
  },
  bodyTooLarge: { error: 1004, status: 400, message: 'the body must be at most 65536 bytes' },
  malformedIdempotencyKey: {
    error: 1005,
    status: 400,
    message:
      'Idempotency-Key must be sent once and be 1 to 255 visible ASCII characters, bare or as a quoted string',
  },
  idempotencyKeyReused: {
    error: 1006,
    status: 400,
    message: 'this Idempotency-Key was used for this id with other content: send a new key for a new plant',
  },
  malformedRequest: { error: 1007, status: 400, message: 'the HTTP request is malformed or ambiguous' },
  tokenMissing: { error: 2000, status: 401, message: 'send Authorization: Bearer <access token>' },
  tokenInvalid: { error: 2001, status: 401, message: 'the access token is not valid: obtain a new one' },
  scopeInsufficient: { error: 2002, status: 403, message: 'the access token lacks the required scope' },
  pathUnknown: {
    error: 3000,
    status: 404,
    message: 'there is no such path: plants are created by POST /plants',
  },
  methodNotAllowed: { error: 3001, status: 405, message: 'this path takes POST only' },
  rateLimited: {
    error: 4000,
    status: 429,
    message: 'too many requests: retry after the time in Retry-After',
  },
  internal: {
    error: 5000,
    status: 500,
    message: 'a defect of this service: report it with the X-Request-Id',
  },
  notStored: {
    error: 5001,
    status: 503,
    message: 'not stored, for certain: send the same request again after the time in Retry-After',
  },
  outcomeUnknown: {
    error: 5002,
    status: 503,
    message:
      'it is unknown whether the plant was stored: send the same request again, with its Idempotency-Key',
  },
} as const satisfies Record<string, { error: number; status: number; message: string }>;

export type ErrorName = keyof typeof errorCatalogue;

/** The body of every answer other than 200. */
export type ErrorBody = { error: number; message: string };
