import type { oas31 } from 'openapi3-ts';

/** Headers a client may send, beside Authorization, which the security scheme documents. */
export const requestHeaders: Record<string, oas31.ParameterObject> = {
  'Idempotency-Key': {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'Makes a repetition safe: the same key with the same plant, from the same subject, is answered as the first ' +
      'request was, and nothing is stored twice. Send a new one for each plant, for example a UUID. A bare key and ' +
      'the same key as a quoted string are equal.',
    schema: {
      type: 'string',
      // 1 to 255 visible characters, bare (not beginning with a quote) or as a structured-field string.
      pattern: '^([!#-~][!-~]{0,254}|"([!#-\\[\\]-~]|\\\\["\\\\]){1,255}")$',
    },
    example: '1c3f0a52-6f0e-4a9c-9d0b-5b0e6f4f7c21',
  },
  'X-Request-Id': {
    name: 'X-Request-Id',
    in: 'header',
    description:
      'Names the request in the answer, the logs and the audit log. Kept when it is 1 to 128 of the characters ' +
      '`A–Z a–z 0–9 . _ -`; anything else is replaced.',
    schema: { type: 'string' },
    example: 'import-2026-11-21.17',
  },
  traceparent: {
    name: 'traceparent',
    in: 'header',
    description:
      'W3C Trace Context, passed on to what happens after the answer. Ignored when it is malformed.',
    schema: { type: 'string' },
    example: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  },
};

/** Headers an answer may carry; answers.ts says which status carries which. */
export const answerHeaders: Record<string, oas31.HeaderObject> = {
  'X-Request-Id': {
    description: 'The name of this request: quote it when you report a problem.',
    required: true,
    schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,128}$' },
    example: 'import-2026-11-21.17',
  },
  'Idempotency-Replayed': {
    description: 'Present when an earlier request with this Idempotency-Key had stored the plant.',
    schema: { type: 'string', const: 'true' },
    example: 'true',
  },
  'WWW-Authenticate': {
    description: 'What is wrong with the access token (RFC 6750 §3).',
    required: true,
    schema: { type: 'string' },
    example: 'Bearer realm="plants", error="invalid_token"',
  },
  Allow: {
    description: 'The one method this path takes.',
    required: true,
    schema: { type: 'string' },
    example: 'POST',
  },
  'Retry-After': {
    description: 'Seconds to wait, at least, before the same request is sent again.',
    required: true,
    schema: { type: 'integer', minimum: 0 },
    example: 1,
  },
};
