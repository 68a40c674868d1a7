import { createServer } from 'node:http';
import type { Tracing } from '@plant-store/platform/tracing/tracing';
import Fastify, { type FastifyError, type FastifyInstance } from 'fastify';
import type { ApiConfig } from '../config.ts';
import type { ApiEvents } from '../events.ts';
import { type Admission, refusingWhenFull } from './admission.ts';
import { refuse } from './api-error.ts';
import { type AccessTokenOptions, accessTokens } from './plugins/access-tokens.ts';
import { errorAnswers, toRefusal } from './plugins/error-answers.ts';
import { framing } from './plugins/framing.ts';
import { mediaType } from './plugins/media-type.ts';
import { onlyKnownRoutes } from './plugins/only-known-routes.ts';
import { requestId, requestIdentity } from './plugins/request-identity.ts';
import { recordOf, requestRecords } from './plugins/request-records.ts';
import { requestTraces } from './plugins/request-traces.ts';
import { rawAnswers } from './raw-answers.ts';
import { type CreatePlantRoute, createPlantRoute } from './routes/plants/create/route.ts';
import { strictAjv } from './schema-keywords.ts';
import { trustedProxies } from './trusted-proxies.ts';

const BODY_BYTES_MAX = 64 * 1024;
const HEAD_BYTES_MAX = 16 * 1024;
/** Against slow clients: timeouts for the head of a request and for the whole request. */
const HEAD_MS_MAX = 5_000;
const REQUEST_MS_MAX = 10_000;
const TIMEOUT_CHECK_MS = 1_000;
/** Longer than the gateway keeps an idle upstream connection, so that it never reuses one that we are closing. */
const KEEP_ALIVE_MS = 10_000;

export type AppDeps = {
  http: Pick<ApiConfig['http'], 'trustedProxies'>;
  accessTokens: AccessTokenOptions;
  createPlant: CreatePlantRoute;
  admission: Admission;
  events: ApiEvents;
  /** Undefined: nothing is traced. */
  tracing: Tracing | undefined;
  closing: () => boolean;
};

/** The public listener. The plugins are registered in the order in which they handle a request. */
export async function buildApp(deps: AppDeps): Promise<FastifyInstance> {
  const raw = rawAnswers(HEAD_MS_MAX, (answer) => deps.events.answered(answer, false));
  const app = Fastify({
    logger: false,
    genReqId: requestId,
    rewriteUrl: (request) => originForm(request.url ?? '/'),
    trustProxy: deps.http.trustedProxies.length > 0 ? trustedProxies(deps.http.trustedProxies) : false,
    bodyLimit: BODY_BYTES_MAX,
    return503OnClosing: false,
    serverFactory: (handle) =>
      createServer(
        {
          maxHeaderSize: HEAD_BYTES_MAX,
          headersTimeout: HEAD_MS_MAX,
          requestTimeout: REQUEST_MS_MAX,
          keepAliveTimeout: KEEP_ALIVE_MS,
          connectionsCheckingInterval: TIMEOUT_CHECK_MS,
          requireHostHeader: false,
        },
        raw.untilRefused(refusingWhenFull(deps, handle)),
      ),
    clientErrorHandler: raw.onParserError,
    // Fastify runs no hooks for these errors, so the request id and the record are added here.
    frameworkErrors: (error, request, reply) => {
      const refusal = toRefusal(error as FastifyError, deps.events.defect);
      void refuse(reply.header('x-request-id', request.id), refusal);
      deps.events.answered(recordOf(request, reply, 0), false);
    },
  });
  raw.attach(app.server);
  const ajv = strictAjv();
  app.setValidatorCompiler(({ schema }) => ajv.compile(schema as object));

  await app.register(requestIdentity, { closing: deps.closing });
  await app.register(requestRecords, { events: deps.events });
  await app.register(requestTraces, { tracing: deps.tracing });
  await app.register(errorAnswers, { onDefect: deps.events.defect });
  await app.register(framing);
  await app.register(onlyKnownRoutes, { paths: ['/plants'] });
  await app.register(accessTokens, deps.accessTokens);
  await app.register(mediaType);
  await app.register(createPlantRoute, deps.createPlant);
  return app;
}

/** The path of a request target in absolute form (RFC 9112 §3.2.2), which servers must accept. */
function originForm(target: string): string {
  if (!/^https?:\/\//i.test(target) || !URL.canParse(target)) return target;
  const { pathname, search } = new URL(target);
  return pathname + search;
}
