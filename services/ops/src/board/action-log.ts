import type { Logger } from '@plant-store/platform/logger';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { signedInUser } from '../access/sessions.ts';
import { isSafe } from '../http/requests.ts';
import type { OpsMetrics } from '../metrics.ts';

/** Writes one line for everything that was done, or tried, on a board: who, what, to which job, with what outcome. */
export function recordActions(
  app: FastifyInstance,
  { logger, metrics }: { logger: Logger; metrics: OpsMetrics },
): void {
  app.addHook('onResponse', async (request, reply) => {
    if (isSafe(request.method)) return;
    const action = actionOf(request);
    const outcome = outcomeOf(reply.statusCode);
    const { queueName: queue, jobId: job, queueStatus: all } = request.params as Record<string, string>;
    metrics.actions.inc({ action, outcome });
    logger.info({ user: signedInUser(request)?.name, action, queue, job, all, outcome }, 'operator action');
  });
}

/** The route in words: `PUT …/api/queues/:queueName/:jobId/retry` is `retry`; its variables are told beside it. */
function actionOf(request: FastifyRequest): string {
  const [, route = ''] = (request.routeOptions.url ?? '').split('/api/');
  const words = route.split('/').filter((part) => part !== 'queues' && !part.startsWith(':'));
  return words.join(' ') || 'unknown';
}

function outcomeOf(status: number): 'done' | 'refused' | 'failed' {
  if (status < 400) return 'done';
  return status < 500 ? 'refused' : 'failed';
}
