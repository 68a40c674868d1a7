import { type ErrorName, errorCatalogue } from '@plant-store/contracts/error-catalogue';
import type { oas31 } from 'openapi3-ts';
import { ApiError, errorBody } from '../api-error.ts';
import { answerHeaders } from './headers.ts';

/** What a client should do about each error, in one line; docs/errors.md has the details. */
const duties: Record<ErrorName, string> = {
  malformedJson: 'No JSON in UTF-8, or a key twice: mend the body',
  invalidPlant: 'JSON, but no plant: mend the field that the message names',
  plantExists: 'The id is taken by another plant: choose another id',
  plantExistsIdentical: 'This very plant exists, created by you: done, nothing to repeat',
  unsupportedMediaType: 'Send application/json in UTF-8 without a content coding',
  bodyTooLarge: 'The body is over 65536 bytes: send less',
  malformedIdempotencyKey: 'Mend the Idempotency-Key',
  idempotencyKeyReused: 'This key was used for this id with other content: send a new key',
  malformedRequest: 'The HTTP request is malformed or ambiguous: mend the client',
  tokenMissing: 'Send an access token',
  tokenInvalid: 'Obtain a new access token, then repeat',
  scopeInsufficient: 'Obtain an access token with the scope',
  pathUnknown: 'Send to /plants',
  methodNotAllowed: 'Send POST',
  rateLimited: 'Repeat after Retry-After',
  internal: 'A defect of the service: report it with the X-Request-Id',
  notStored: 'This request stored nothing, for certain: repeat after Retry-After',
  outcomeUnknown: 'Stored or not: repeat with the same Idempotency-Key after Retry-After, until 200 or 400',
};

/** HTTP's specific statuses for a malformed request: too slow, or with a head that is too large. */
const REQUEST_STATUSES = [408, 414, 417, 431];

const descriptions: Record<number, string> = {
  400: 'unexpected error',
  401: 'No access token, or one that is not valid.',
  403: 'The access token lacks the required scope.',
  404: 'There is no such path.',
  405: 'The path is known, the method is not.',
  408: 'The request took too long to arrive.',
  414: 'The request target is too long.',
  417: 'The expectation in `Expect` is unknown.',
  429: 'Too many requests.',
  431: 'The request line and headers are too large.',
  500: 'A defect of the service.',
  503: 'No verdict: the plant could not be stored (5001), or it is unknown whether it was (5002).',
};

const extraHeaders: Record<number, readonly string[]> = {
  401: ['WWW-Authenticate'],
  403: ['WWW-Authenticate'],
  405: ['Allow'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};

/** Every answer of the operation by status: 200, and the whole catalogue with an example for each number. */
export function answers(): oas31.ResponsesObject {
  const names = Object.keys(errorCatalogue) as ErrorName[];
  const statuses = [...new Set([...names.map((name) => errorCatalogue[name].status), ...REQUEST_STATUSES])];
  const refusals = statuses
    .sort((a, b) => a - b)
    .map(
      (status) =>
        [
          status,
          refusal(
            status,
            names.filter((name) => mayCarry(status, name)),
          ),
        ] as const,
    );
  return { 200: stored(), ...Object.fromEntries(refusals) };
}

function mayCarry(status: number, name: ErrorName): boolean {
  if (REQUEST_STATUSES.includes(status)) return name === 'malformedRequest';
  return errorCatalogue[name].status === status;
}

function stored(): oas31.ResponseObject {
  return {
    description: 'The plant is stored: a majority of the database holds it on disk.',
    headers: headers(['X-Request-Id', 'Idempotency-Replayed']),
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Plant' },
        examples: {
          tagged: { summary: 'A plant with a tag', value: { name: 'Monstera', tag: 'indoor' } },
          untagged: { summary: 'A plant without one', value: { name: 'Fern' } },
        },
      },
    },
  };
}

function refusal(status: number, names: readonly ErrorName[]): oas31.ResponseObject {
  const examples = names
    .map((name) => ({ name, body: errorBody(new ApiError(name)) }))
    .sort((a, b) => a.body.error - b.body.error)
    .map(({ name, body }) => [name, { summary: `${body.error}. ${duties[name]}.`, value: body }]);
  return {
    description: descriptions[status] as string,
    headers: headers(['X-Request-Id', ...(extraHeaders[status] ?? [])]),
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Error' },
        examples: Object.fromEntries(examples),
      },
    },
  };
}

function headers(names: readonly string[]): Record<string, oas31.ReferenceObject> {
  for (const name of names)
    if (!(name in answerHeaders)) throw new Error(`the header ${name} is not described`);
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
