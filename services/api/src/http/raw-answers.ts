import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { ApiError, errorBody, errorHeaders } from './api-error.ts';
import { requestId } from './plugins/request-identity.ts';

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
export function answerParserError(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  writeRefusal(socket, PARSER_ERRORS[error.code ?? '']?.() ?? new ApiError('malformedRequest'));
}

/** Answers CONNECT and unknown expectations, which Node hands out beside the ordinary requests. */
export function answerOddRequests(server: Server): void {
  server.on('connect', (request: IncomingMessage, socket: Duplex) => {
    writeRefusal(socket, new ApiError('methodNotAllowed'), requestId(request));
  });
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    const refusal = new ApiError('malformedRequest', 'the only known expectation is 100-continue', 417);
    response.writeHead(refusal.status, {
      ...errorHeaders(refusal),
      'x-request-id': requestId(request),
      connection: 'close',
    });
    response.end(JSON.stringify(errorBody(refusal)));
  });
}

function writeRefusal(
  socket: Duplex,
  refusal: ApiError,
  id = requestId({ headers: {} } as IncomingMessage),
): void {
  const body = JSON.stringify(errorBody(refusal));
  const headers = {
    ...errorHeaders(refusal),
    'x-request-id': id,
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  };
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}\r\n${head.join('')}\r\n${body}`);
}
