import { randomUUID } from 'node:crypto';
import type { Logger } from '@plant-store/platform/process/logger';
import type { Queue } from 'bullmq';
import Fastify, { type FastifyInstance } from 'fastify';
import type { Redis } from 'ioredis';
import { requireSignIn } from '../access/access.ts';
import type { Credentials } from '../access/credentials.ts';
import type { OperatorSessions } from '../access/session-store.ts';
import { sessions } from '../access/sessions.ts';
import { signIn } from '../access/sign-in.ts';
import { apiDocumentation } from '../api-documentation/api-documentation.ts';
import { board } from '../board/board.ts';
import type { OpsConfig } from '../config.ts';
import { type ControlsOptions, controlPages } from '../controls/controls.ts';
import { type FailurePagesOptions, failurePages } from '../failures/failure-pages.ts';
import type { History } from '../history/history.ts';
import { live } from '../history/live.ts';
import type { OpsMetrics } from '../metrics.ts';
import type { Monitor } from '../monitor/monitor.ts';
import { type PlantPagesOptions, plantPages } from '../plants/plant-pages.ts';
import { runbook } from '../runbook/runbook.ts';
import { statusPages } from '../status/status-pages.ts';
import { assets } from './assets.ts';
import { refuseCrossSite } from './cross-site.ts';
import { failures } from './failures.ts';
import { securityHeaders } from './security-headers.ts';

/** An answer takes at most this long, whatever the databases do. */
const ANSWER_MS_MAX = 4_000;
const REQUEST_MS_MAX = 5_000;
const KEEP_ALIVE_MS = 10_000;
const BODY_BYTES_MAX = 16_384;

export type OpsAppParts = {
  http: Pick<OpsConfig['http'], 'origin' | 'tls' | 'trustedProxies'>;
  credentials: Credentials;
  sessionStore: OperatorSessions;
  monitor: Monitor;
  history: History;
  queue: Queue;
  redis: Redis;
  controls: ControlsOptions;
  plants: PlantPagesOptions;
  failures: FailurePagesOptions;
  metrics: OpsMetrics;
  logger: Logger;
};

/** The console, in the order a request meets it. */
export async function buildOpsApp(parts: OpsAppParts): Promise<FastifyInstance> {
  const {
    http,
    credentials,
    sessionStore: store,
    monitor,
    history,
    queue,
    redis,
    controls,
    plants,
    failures: failed,
    metrics,
    logger,
  } = parts;
  const app = Fastify({
    logger: false,
    genReqId: () => randomUUID(),
    trustProxy: http.trustedProxies.length > 0 && http.trustedProxies,
    bodyLimit: BODY_BYTES_MAX,
    requestTimeout: REQUEST_MS_MAX,
    handlerTimeout: ANSWER_MS_MAX,
    keepAliveTimeout: KEEP_ALIVE_MS,
  });

  await app.register(failures, { logger });
  await app.register(securityHeaders, { tls: http.tls });
  app.addHook('onRequest', refuseCrossSite(http.origin));
  await app.register(sessions, { tls: http.tls, store });

  await app.register(assets);
  await app.register(signIn, { credentials, store, tls: http.tls, logger, metrics });
  await app.register(async (signedIn) => {
    signedIn.addHook('onRequest', requireSignIn);
    await signedIn.register(statusPages, { monitor, history });
    await signedIn.register(live, { monitor, history });
    await signedIn.register(runbook);
    await signedIn.register(plantPages, plants);
    await signedIn.register(failurePages, failed);
    await signedIn.register(controlPages, controls);
    await signedIn.register(apiDocumentation);
    await signedIn.register(board, { queue, redis });
  });
  return app;
}
