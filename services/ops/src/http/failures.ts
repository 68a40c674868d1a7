import type { Logger } from '@plant-store/platform/process/logger';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { signedInUser } from '../access/sessions.ts';
import { failurePage } from '../pages/failure-page.ts';
import { wantsPage } from './requests.ts';
import { sendPage } from './send-page.ts';

/** An answer other than success whose words are meant for the person who asked. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly statusCode: number;

  /** @param cause logged, and not shown to the client; without a cause nothing is logged. */
  constructor(statusCode: number, words: string, cause?: Error) {
    super(words, { cause });
    this.statusCode = statusCode;
  }
}

/** Answers every failure with a page or JSON `{ error }` in plain words, without a stack or a driver's message. */
export const failures = fastifyPlugin<{ logger: Logger }>(async (app, { logger }) => {
  app.setNotFoundHandler((request, reply) => sendFailure(request, reply, 404, 'There is no such page here.'));

  app.setErrorHandler<FastifyError>((error, request, reply) => {
    const status = error.statusCode ?? 500;
    const words = error instanceof Refusal ? error.message : wordsFor(status);
    const isPlain = status < 500 || (error instanceof Refusal && error.cause === undefined);
    if (isPlain) return sendFailure(request, reply, status, words);
    logger.error({ err: error, request: request.id, url: request.url }, 'a request failed');
    return sendFailure(request, reply, status, words, request.id);
  });
});

function sendFailure(
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
  words: string,
  reference?: string,
): FastifyReply {
  reply.code(status).header('cache-control', 'no-store');
  if (!wantsPage(request)) {
    return reply.send({ error: words, ...(reference !== undefined && { reference }) });
  }
  return sendPage(reply, failurePage({ status, words, reference, user: signedInUser(request) }));
}

function wordsFor(status: number): string {
  if (status === 413) return 'That was too much at once.';
  if (status === 503) return 'No answer came in time. Try again in a moment.';
  return status < 500 ? 'The request could not be understood.' : 'Something went wrong in this console.';
}
