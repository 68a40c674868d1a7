import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { AnsweredRequest } from '../events.ts';
import { ApiError, errorBody, errorHeaders } from './api-error.ts';
import { requestId } from './plugins/request-identity.ts';

type OnAnswered = (answer: AnsweredRequest) => void;

/** Node's parser errors that HTTP has a status of its own for. */
const PARSER_ERRORS: Record<string, () => ApiError> = {
  HPE_HEADER_OVERFLOW: () =>
    new ApiError('malformedRequest', 'the request line and headers are too large', 431),
  ERR_HTTP_REQUEST_TIMEOUT: () =>
    new ApiError('malformedRequest', 'the request took too long to arrive', 408),
};

/**
 * Answers what never becomes a request: for these Node would write an empty or foreign body. The connection is closed,
 * since where the next request begins on it is anyone's guess.
 */
export function answerParserErrors(onAnswered: OnAnswered) {
  return (error: NodeJS.ErrnoException, socket: Duplex): void => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const refusal = PARSER_ERRORS[error.code ?? '']?.() ?? new ApiError('malformedRequest');
    writeRefusal(socket, refusal, { headers: {} } as IncomingMessage, onAnswered);
  };
}

/** Answers CONNECT and unknown expectations, which Node hands out beside the ordinary requests. */
export function answerOddRequests(server: Server, onAnswered: OnAnswered): void {
  server.on('connect', (request: IncomingMessage, socket: Duplex) => {
    writeRefusal(socket, new ApiError('methodNotAllowed'), request, onAnswered);
  });
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    const refusal = new ApiError('malformedRequest', 'the only known expectation is 100-continue', 417);
    const { headers, body } = toAnswer(refusal, request, onAnswered);
    response.writeHead(refusal.status, headers);
    response.end(body);
  });
}

function writeRefusal(
  socket: Duplex,
  refusal: ApiError,
  request: IncomingMessage,
  onAnswered: OnAnswered,
): void {
  const { headers, body } = toAnswer(refusal, request, onAnswered);
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}\r\n${head.join('')}\r\n${body}`);
}

function toAnswer(refusal: ApiError, request: IncomingMessage, onAnswered: OnAnswered) {
  const content = errorBody(refusal);
  const body = JSON.stringify(content);
  const id = requestId(request);
  onAnswered({
    request: id,
    method: request.method ?? '',
    status: refusal.status,
    error: content.error,
    ms: 0,
  });
  const headers = {
    ...errorHeaders(refusal),
    'x-request-id': id,
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  };
  return { headers, body };
}
