import type { oas31 } from 'openapi3-ts';
import { answers } from './answers.ts';
import { answerHeaders, requestHeaders } from './headers.ts';
import { schemas } from './schemas.ts';

const ABOUT = `Creates plants, one at a time, at high volume.

**How to read the answers.** A failed create is answered with 400 and an Error body. That covers every verdict on a
request, also where HTTP has a finer code (409, 413, 415, 422). When the service could give no verdict, because it could
not store the plant or does not know whether it did, it answers 503 with the same body, since 400 would tell every client
and proxy not to try again. What is refused before a create is judged (HTTP itself, path, method, access token, rate) has
HTTP's own status, and the same body too.

**When to repeat.** After 429, 503, 408 or no answer at all: the same request with the same \`Idempotency-Key\`, waiting at
least \`Retry-After\` and longer each time, by a random share. After 401 with a new access token. After any other answer the
same request would be answered the same. 5001 speaks of its own request alone: once one attempt has ended in 5002 or
without an answer, repeat with the key until 200 or 400.`;

const CREATING = `Stores one plant under its id, which is unique for ever.

A request is judged in this order: HTTP, path and method, access token, media type, JSON, plant, store. Unknown fields are
accepted, not stored and not returned. The body may have at most 65536 bytes.

Creating a plant whose id is taken is refused, with one exception: a repetition that proves itself by the same
\`Idempotency-Key\`, subject and content is answered with 200 again, with \`Idempotency-Replayed: true\`.`;

const PLANTS = 'plants';

/** The OpenAPI document, generated from the validating schemas and the error catalogue. */
export function openApiDocument(): oas31.OpenAPIObject {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Plant Store',
      version: '1.0.0',
      description: ABOUT,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'Wherever the gateway is reached: the base address is free.' }],
    security: [{ bearer: [] }],
    tags: [{ name: PLANTS, description: 'Creating plants.' }],
    paths: { '/plants': { post: createPlant() } },
    components: {
      schemas,
      headers: answerHeaders,
      parameters: requestHeaders,
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: 'An access token of the configured issuer: a JWT with `exp` and `sub`.',
        },
      },
    },
  };
}

function createPlant(): oas31.OperationObject {
  return {
    operationId: 'createPlant',
    summary: 'Create a plant',
    description: CREATING,
    tags: [PLANTS],
    parameters: Object.keys(requestHeaders).map((name) => ({ $ref: `#/components/parameters/${name}` })),
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: { $ref: '#/components/schemas/NewPlant' },
          examples: {
            tagged: { summary: 'With a tag', value: { id: 42, name: 'Monstera', tag: 'indoor' } },
            untagged: { summary: 'Without one', value: { id: 43, name: 'Fern' } },
          },
        },
      },
    },
    responses: answers(),
  };
}
