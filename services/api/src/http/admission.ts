import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import { ApiError, errorBody, errorHeaders } from './api-error.ts';
import { requestId } from './plugins/request-identity.ts';

export type Admission = {
  /** Whether the next create is to be refused, because more come than are stored. */
  isFull: () => boolean;
  /** A create was refused. */
  refused: () => void;
};

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

const refusal = new ApiError('notStored');
const body = JSON.stringify(errorBody(refusal));
const headers = { ...errorHeaders(refusal), 'content-length': Buffer.byteLength(body) };

/**
 * The HTTP server, which refuses creates while there are too many: before token, routing and body, so that a refusal
 * costs a fraction of a create. Otherwise refusing would take the time that is needed for the creates that are accepted.
 * Nothing was stored, so 5001 is true whatever else could be said about the request.
 */
export function admittingServer({ admission, closing }: { admission: Admission; closing: () => boolean }) {
  return (handle: Handler, http: ServerOptions): Server =>
    createServer(http, (request, response) => {
      if (request.method !== 'POST' || !admission.isFull()) return handle(request, response);
      admission.refused();
      response.writeHead(refusal.status, {
        ...headers,
        'x-request-id': requestId(request),
        ...(closing() && { connection: 'close' }),
      });
      response.end(body);
    });
}
