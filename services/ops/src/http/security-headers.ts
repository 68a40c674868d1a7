import helmet from '@fastify/helmet';
import fastifyPlugin from 'fastify-plugin';

/** Nothing from elsewhere, nothing inline: what the console's own pages need. */
const pagePolicy = {
  defaultSrc: ["'none'"],
  scriptSrc: ["'self'"],
  styleSrc: ["'self'"],
  imgSrc: ["'self'"],
  connectSrc: ["'self'"],
  formAction: ["'self'"],
  baseUri: ["'none'"],
  frameAncestors: ["'none'"],
};

/** Bull Board styles its elements inline, has a `<base>` and draws its icons as data. */
const boardPolicy = {
  ...pagePolicy,
  styleSrc: ["'self'", "'unsafe-inline'"],
  imgSrc: ["'self'", 'data:'],
  fontSrc: ["'self'", 'data:'],
  baseUri: ["'self'"],
};

/** Swagger UI has its icons as data. */
const apiPolicy = { ...pagePolicy, imgSrc: ["'self'", 'data:'] };

/** What the page of the API answers with instead. */
export const apiContentSecurity = {
  contentSecurityPolicy: { useDefaults: false, directives: apiPolicy },
};

/** What the board's routes answer with instead. */
export const boardContentSecurity = {
  contentSecurityPolicy: { useDefaults: false, directives: boardPolicy },
};

export const securityHeaders = fastifyPlugin<{ tls: boolean }>(async (app, { tls }) => {
  await app.register(helmet, {
    contentSecurityPolicy: { useDefaults: false, directives: pagePolicy },
    xFrameOptions: { action: 'deny' },
    referrerPolicy: { policy: 'same-origin' },
    strictTransportSecurity: tls ? { maxAge: 31_536_000 } : false,
    crossOriginOpenerPolicy: tls ? { policy: 'same-origin' } : false,
    originAgentCluster: tls,
  });
});
