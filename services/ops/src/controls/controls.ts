import formbody from '@fastify/formbody';
import { int64FromJsonNumber } from '@plant-store/contracts/plant-id';
import type { FastifyPluginAsync } from 'fastify';
import type { Redis } from 'ioredis';
import type { User } from '../access/accounts.ts';
import { signedInUser } from '../access/sessions.ts';
import { Refusal } from '../http/failures.ts';
import { sendPage } from '../http/send-page.ts';
import type { OpsMetrics } from '../metrics.ts';
import { controlPage, controlsPage } from '../pages/controls-page.ts';
import {
  CONTROLS,
  type Control,
  type ControlInput,
  type ControlName,
  PAUSE_MINUTES_DEFAULT,
  PAUSE_MINUTES_MAX,
  REDIS_AWAY,
  targetOf,
} from './control.ts';
import type { OperatorAudit } from './operator-audit.ts';
import { ActionError, perform } from './perform.ts';

const REASON_LENGTH_MAX = 500;
const RECENT_MAX = 20;
const FORM_BYTES_MAX = 16_384;

export type ControlsOptions = {
  controls: Record<ControlName, Control>;
  audit: OperatorAudit;
  redis: Redis;
  instance: string;
  metrics: OpsMetrics;
};

/** The operators' controls. Each shows first what it will do; each use, also a refused one, is an audit entry. */
export const controlPages: FastifyPluginAsync<ControlsOptions> = async (app, options) => {
  const { controls, audit, redis, instance, metrics } = options;
  await app.register(formbody, { bodyLimit: FORM_BYTES_MAX });

  app.get('/controls', async (request, reply) => {
    const recent = await audit.recent(RECENT_MAX).catch(() => undefined);
    return sendPage(reply, controlsPage({ user: signedInUser(request) as User, controls, recent }));
  });

  for (const name of CONTROLS) {
    const control = controls[name];

    app.get(`/controls/${name}`, async (request, reply) => {
      if (control.needsRedis && redis.status !== 'ready') throw new Refusal(503, REDIS_AWAY);
      const user = signedInUser(request) as User;
      const { input, fault } = readInput(user, request.query);
      if (fault !== undefined) throw new Refusal(400, fault);
      return sendPage(reply, controlPage({ user, name, control, input, plan: await control.plan(input) }));
    });

    app.post(`/controls/${name}`, async (request, reply) => {
      const user = signedInUser(request) as User;
      const { input, fault } = readInput(user, request.body);
      const away = control.needsRedis && redis.status !== 'ready' ? REDIS_AWAY : undefined;
      const obstacle =
        fault !== undefined
          ? ({ kind: 'invalid', words: fault } as const)
          : away && ({ kind: 'unavailable', words: away } as const);
      const action = {
        name,
        target: targetOf(input),
        reason: input.reason,
        obstacle,
        apply: () => control.apply(input),
      };
      const from = { address: request.ip, request: request.id, instance };
      const count = (action: string, outcome: string) => metrics.actions.inc({ action, outcome });
      await perform({ audit, count }, action, { ...user, from }).catch((error: unknown) => {
        throw error instanceof ActionError ? refusalOf(error) : error;
      });
      return reply.redirect(control.page ?? '/controls', 303);
    });
  }
};

function refusalOf({ kind, message, cause }: ActionError): Refusal {
  if (kind === 'forbidden') return new Refusal(403, message);
  if (kind === 'invalid') return new Refusal(400, message);
  const words =
    kind === 'failed' ? 'No good answer came. See on the status page whether it was done.' : message;
  return new Refusal(503, words, cause as Error | undefined);
}

/** @returns the input, with a fault in words when a field makes no sense. */
function readInput(user: User, fields: unknown): { input: ControlInput; fault?: string } {
  const form = (fields ?? {}) as Record<string, unknown>;
  const text = (field: string) => (typeof form[field] === 'string' ? form[field].trim() : '');
  const minutes = text('minutes') === '' ? PAUSE_MINUTES_DEFAULT : Number(text('minutes'));
  const plant = text('plant') === '' ? undefined : int64FromJsonNumber(text('plant'));
  const input = {
    by: user.name,
    reason: text('reason').slice(0, REASON_LENGTH_MAX),
    minutes,
    matching: text('matching').slice(0, REASON_LENGTH_MAX),
    ...(plant !== undefined && { plant }),
  };
  if (!Number.isInteger(minutes) || minutes < 1 || minutes > PAUSE_MINUTES_MAX) {
    return { input, fault: `A pause lasts 1 to ${PAUSE_MINUTES_MAX} minutes.` };
  }
  if (text('plant') !== '' && plant === undefined) {
    return { input, fault: 'A plant is named by a whole number from -2^63 to 2^63-1.' };
  }
  return { input };
}
