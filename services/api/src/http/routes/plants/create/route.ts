import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { CreatePlant, Creation, Outcome } from '../../../../domain/create-plant.ts';
import { ApiError } from '../../../api-error.ts';
import { idempotencyKeyHash } from '../../../idempotency-key.ts';
import { NewPlant, PlantBody } from './schema.ts';

/** From the complete request to the answer; the gateway waits a little longer. */
const ANSWER_MS_MAX = 4_000;

export type CreatePlantRoute = { createPlant: CreatePlant; now: () => number };

export async function createPlantRoute(
  app: FastifyInstance,
  { createPlant, now }: CreatePlantRoute,
): Promise<void> {
  app.post<{ Body: NewPlant; Reply: PlantBody }>(
    '/plants',
    { schema: { body: NewPlant, response: { 200: PlantBody } } },
    async (request, reply) => {
      const creation = toCreation(request, now() + ANSWER_MS_MAX);
      const { name, tag } = creation.plant;
      acknowledge(await createPlant(creation), reply);
      return tag === undefined ? { name } : { name, tag };
    },
  );
}

function toCreation(request: FastifyRequest<{ Body: NewPlant }>, deadline: number): Creation {
  const { id, name, tag } = request.body;
  const keyHash = idempotencyKeyHash(request.headers['idempotency-key'] as string | undefined);
  const traceparent = request.headers['traceparent'];
  return {
    plant: tag === undefined ? { id, name } : { id, name, tag },
    principal: request.principal,
    origin: { address: request.ip, request: request.id },
    ...(keyHash !== undefined && { keyHash }),
    ...(typeof traceparent === 'string' && TRACEPARENT.test(traceparent) && { traceparent }),
    deadline,
  };
}

/** W3C Trace Context §3.2, version 00 and those that extend it. */
const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(?:-[\x21-\x7e]{1,64})?$/;

/** Lets a stored plant pass to its 200; throws the refusal that belongs to any other outcome. */
function acknowledge(outcome: Outcome, reply: FastifyReply): void {
  switch (outcome) {
    case 'created':
      return;
    case 'replayed':
      reply.header('idempotency-replayed', 'true');
      return;
    case 'exists':
      throw new ApiError('plantExists');
    case 'exists-identical':
      throw new ApiError('plantExistsIdentical');
    case 'key-reused':
      throw new ApiError('idempotencyKeyReused');
    case 'not-stored':
      throw new ApiError('notStored');
    case 'unknown':
      throw new ApiError('outcomeUnknown');
  }
}
