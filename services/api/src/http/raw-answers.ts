import {
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { Duplex } from 'node:stream';
import type { AnsweredRequest } from '../events.ts';
import { ApiError, errorBody, errorHeaders } from './api-error.ts';
import { requestId } from './plugins/request-identity.ts';
import { pathOf } from './plugins/request-records.ts';

/** How long a client has to read its refusal and close, before the connection is cut. */
const LINGER_MS = 1_000;

/** The parser errors of Node for which HTTP has a status other than 400. */
const PARSER_ERRORS: Record<string, () => ApiError> = {
  HPE_HEADER_OVERFLOW: () =>
    new ApiError('malformedRequest', 'the request line and headers are too large', 431),
  ERR_HTTP_REQUEST_TIMEOUT: () =>
    new ApiError('malformedRequest', 'the request took too long to arrive', 408),
};

export type RawAnswers = {
  /** Fastify's `clientErrorHandler`. */
  onParserError: (error: NodeJS.ErrnoException, socket: Duplex) => void;
  /**
   * Passes requests to the handler until their connection is refused. A timeout does not stop Node's parser: a head that
   * is complete only after its 408 would still be handled, and its plant stored although the client was refused.
   */
  untilRefused: (handle: RequestListener) => RequestListener;
  attach: (server: Server) => void;
};

/**
 * Answers what Node refuses before Fastify sees a request: bytes that are not HTTP, CONNECT, unknown expectations.
 * Node's own answers would not have the body of the error catalogue. The connection is closed afterwards, because
 * nobody can tell where the next request on it begins. Complete requests that arrived earlier on the same connection
 * are answered first: otherwise the client would take the refusal for the answer to one of them, although its plant is
 * stored (S2).
 * @param headMsMax the timeout for the head of a request
 */
export function rawAnswers(headMsMax: number, onAnswered: (answer: AnsweredRequest) => void): RawAnswers {
  /** The response to the last request that arrived on a connection. Node sends responses in the order of requests. */
  const last = new WeakMap<Duplex, ServerResponse>();
  /** Connections that are being closed. What their parser still reports, errors and requests, is to be ignored. */
  const ending = new WeakSet<Duplex>();
  /** When a connection was opened, on the clock of `performance.now()`. */
  const opened = new WeakMap<Duplex, number>();

  function onParserError(error: NodeJS.ErrnoException, socket: Duplex): void {
    if (ending.has(socket)) return;
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    ending.add(socket);
    const refusal = PARSER_ERRORS[error.code ?? '']?.() ?? new ApiError('malformedRequest');
    const answer = last.get(socket);
    if (answer === undefined || answer.req.complete)
      refuseInTurn(socket, refusal, arrivalMsOf(socket, refusal));
    // Otherwise the body of the last request is broken. If it is already answered, the connection is closed after the
    // answer. If the body is being read, the reader gets the error and answers.
    else if (answer.writableEnded) afterAnswer(answer, () => socket.destroy());
    else if (answer.req.listenerCount('error') > 0) answer.req.emit('error', refusal);
    else socket.destroy();
  }

  /** How long the refused bytes took to arrive. */
  function arrivalMsOf(socket: Duplex, refusal: ApiError): number {
    const since = opened.get(socket);
    if (since !== undefined && !last.has(socket)) return performance.now() - since;
    // After earlier requests the time of the first byte is unknown; a head that timed out took the whole timeout.
    return refusal.status === 408 ? headMsMax : 0;
  }

  /**
   * Sends the refusal once all earlier requests on the connection are answered.
   * @param arrivalMs how long the refused bytes took to arrive; what they wait for their turn is added
   */
  function refuseInTurn(
    socket: Duplex,
    refusal: ApiError,
    arrivalMs: number,
    request?: IncomingMessage,
  ): void {
    ending.add(socket);
    const since = performance.now() - arrivalMs;
    afterAnswer(last.get(socket), () => {
      if (!socket.writable) return;
      const { headers, body } = toAnswer(refusal, performance.now() - since, request);
      const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
      socket.end(`HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}\r\n${head.join('')}\r\n${body}`);
      setTimeout(() => socket.destroy(), LINGER_MS).unref();
    });
  }

  function toAnswer(refusal: ApiError, ms: number, request?: IncomingMessage) {
    const content = errorBody(refusal);
    const body = JSON.stringify(content);
    const id = requestId(request);
    const { status } = refusal;
    const path = request?.url === undefined ? {} : { path: pathOf(request.url) };
    onAnswered({ request: id, method: request?.method ?? '', ...path, status, error: content.error, ms });
    const headers = {
      ...errorHeaders(refusal),
      'x-request-id': id,
      'content-length': Buffer.byteLength(body),
      connection: 'close',
    };
    return { headers, body };
  }

  return {
    onParserError,
    untilRefused: (handle) => (request, response) => {
      if (!ending.has(request.socket)) handle(request, response);
    },
    attach(server) {
      server.on('connection', (socket) => opened.set(socket, performance.now()));
      server.on('request', (request: IncomingMessage, response: ServerResponse) => {
        last.set(request.socket, response);
      });
      server.on('connect', (request: IncomingMessage, socket: Duplex) => {
        refuseInTurn(socket, new ApiError('methodNotAllowed'), 0, request);
      });
      server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
        const refusal = new ApiError('malformedRequest', 'the only known expectation is 100-continue', 417);
        const { headers, body } = toAnswer(refusal, 0, request);
        response.writeHead(refusal.status, headers);
        response.end(body);
      });
    },
  };
}

function afterAnswer(answer: ServerResponse | undefined, then: () => void): void {
  if (answer === undefined || answer.writableFinished) then();
  else answer.once('finish', then);
}
