import type { ErrorName } from '@plant-store/contracts/error-catalogue';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { CreatePlant } from '../../../../domain/create-plant.ts';
import type { Creation, Outcome } from '../../../../domain/creation.ts';
import { ApiError, refuse } from '../../../api-error.ts';
import { idempotencyKeyHash } from '../../../idempotency-key.ts';
import { originOf } from '../../../origin.ts';
import { traceparentOf } from '../../../plugins/request-traces.ts';
import { NewPlant, PlantBody } from './schema.ts';

/** From the complete request to the answer. The gateway's timeout is a little longer. */
const ANSWER_MS_MAX = 4_000;

/** The error for each outcome that is not answered with a plant. */
const refusals = {
  exists: 'plantExists',
  'exists-identical': 'plantExistsIdentical',
  'key-reused': 'idempotencyKeyReused',
  'not-stored': 'notStored',
  unknown: 'outcomeUnknown',
} as const satisfies Record<Exclude<Outcome, 'created' | 'replayed'>, ErrorName>;

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
      const outcome = await createPlant(creation);
      if (outcome === 'replayed') reply.header('idempotency-replayed', 'true');
      else if (outcome !== 'created') return refuse(reply, new ApiError(refusals[outcome]));
      const { name, tag } = creation.plant;
      return tag === undefined ? { name } : { name, tag };
    },
  );
}

function toCreation(request: FastifyRequest<{ Body: NewPlant }>, deadline: number): Creation {
  const { id, name, tag } = request.body;
  const keyHash = idempotencyKeyHash(request.headers['idempotency-key'] as string | undefined);
  const traceparent = traceparentOf(request);
  return {
    plant: tag === undefined ? { id, name } : { id, name, tag },
    principal: request.principal,
    origin: originOf(request),
    ...(keyHash !== undefined && { keyHash }),
    ...(traceparent !== undefined && { traceparent }),
    deadline,
  };
}
