import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import type { FastifyPluginAsync } from 'fastify';
import type { User } from '../access/accounts.ts';
import { signedInUser } from '../access/sessions.ts';
import { apiContentSecurity } from '../http/security-headers.ts';
import { sendPage } from '../http/send-page.ts';
import { apiPage } from '../pages/api-page.ts';

const source = join(import.meta.dirname, '../../../../docs/openapi.json');
/** Swagger UI's own files, served from here: operators' browsers talk to this console alone. */
const swaggerUi = dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json')));
const SWAGGER_UI_FILES = ['/swagger-ui.css', '/swagger-ui-bundle.js'];

/** docs/openapi.json, and as a page that people can read. */
export const apiDocumentation: FastifyPluginAsync = async (app) => {
  const document = readFileSync(source, 'utf8');
  await app.register(fastifyStatic, {
    root: swaggerUi,
    prefix: '/api/ui/',
    index: false,
    allowedPath: (path) => SWAGGER_UI_FILES.includes(path),
    decorateReply: false,
  });

  app.get('/openapi.json', async (_request, reply) =>
    reply.type('application/json; charset=utf-8').header('cache-control', 'no-store').send(document),
  );
  app.get('/api', async (request, reply) => {
    reply.helmet(apiContentSecurity);
    return sendPage(reply, apiPage(signedInUser(request) as User));
  });
};
