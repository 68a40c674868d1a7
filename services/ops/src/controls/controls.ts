import formbody from '@fastify/formbody';
import { CREATIONS_QUEUE } from '@plant-store/contracts/creation-job';
import type { FastifyPluginAsync, FastifyReply } from 'fastify';
import type { Redis } from 'ioredis';
import type { User } from '../access/accounts.ts';
import { signedInUser } from '../access/sessions.ts';
import { Refusal } from '../http/failures.ts';
import type { OpsMetrics } from '../metrics.ts';
import { controlPage, controlsPage } from '../pages/controls-page.ts';
import type { OperatorAction, OperatorAudit } from './operator-audit.ts';
import { CONTROLS, type Control, type ControlInput, type ControlName } from './queue-controls.ts';

const REASON_LENGTH_MAX = 500;
const MINUTES_MAX = 24 * 60;
const MINUTES_DEFAULT = 15;
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
    return page(reply, controlsPage({ user: signedInUser(request) as User, controls, recent }));
  });

  for (const name of CONTROLS) {
    const control = controls[name];

    app.get(`/controls/${name}`, async (request, reply) => {
      refuseWithoutRedis(redis);
      const user = signedInUser(request) as User;
      const input = readInput(user, request.query);
      return page(reply, controlPage({ user, name, control, input, plan: await control.plan(input) }));
    });

    app.post(`/controls/${name}`, async (request, reply) => {
      const user = signedInUser(request) as User;
      const input = readInput(user, request.body);
      const record = (action: Pick<OperatorAction, 'action' | 'outcome'> & Partial<OperatorAction>) => {
        metrics.actions.inc({ action: name, outcome: action.outcome });
        return audit.record({
          target: CREATIONS_QUEUE,
          ...(input.reason !== '' && { reason: input.reason }),
          who: { sub: user.name },
          from: { address: request.ip, request: request.id, instance },
          ...action,
        });
      };

      if (user.role !== 'operator') {
        await record({ action: name, outcome: 'refused' }).catch(logged);
        throw new Refusal(
          403,
          'A viewer may see everything and change nothing: this takes the role operator.',
        );
      }
      refuseWithoutRedis(redis);
      if (input.reason === '') throw new Refusal(400, 'Give a reason: it becomes part of the audit log.');
      await audit.check().catch((error: Error) => {
        throw new Refusal(
          503,
          'The audit log cannot be written, so nothing was done. Try again once MongoDB is back.',
          error,
        );
      });
      const outcome = await control.apply(input).catch(async (error: Error) => {
        await record({ action: name, outcome: 'failed' }).catch(logged);
        throw new Refusal(
          503,
          'Redis gave no good answer. See on the status page whether it was done.',
          error,
        );
      });
      await record({ ...outcome, outcome: 'done' }).catch((error: Error) => {
        throw new Refusal(
          503,
          'It was done, and could not be put into the audit log: the log of this console has the entry.',
          error,
        );
      });
      return reply.redirect('/controls', 303);
    });
  }
};

/** Ignores the error: the audit log has already logged that it could not seal the entry. */
const logged = () => {};

function readInput(user: User, fields: unknown): ControlInput {
  const form = (fields ?? {}) as Record<string, unknown>;
  const text = (field: string) => (typeof form[field] === 'string' ? form[field].trim() : '');
  const minutes = text('minutes') === '' ? MINUTES_DEFAULT : Number(text('minutes'));
  if (!Number.isInteger(minutes) || minutes < 1 || minutes > MINUTES_MAX) {
    throw new Refusal(400, `A pause lasts 1 to ${MINUTES_MAX} minutes.`);
  }
  return {
    by: user.name,
    reason: text('reason').slice(0, REASON_LENGTH_MAX),
    minutes,
    matching: text('matching').slice(0, REASON_LENGTH_MAX),
  };
}

function refuseWithoutRedis(redis: Redis): void {
  if (redis.status !== 'ready')
    throw new Refusal(503, 'Redis is unreachable: the queue cannot be changed until it is back.');
}

function page(reply: FastifyReply, html: string): FastifyReply {
  return reply.type('text/html; charset=utf-8').header('cache-control', 'no-store').send(html);
}
