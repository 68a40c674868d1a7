import type { IncomingMessage, RequestListener } from 'node:http';
import { ApiError, errorBody, errorHeaders } from './api-error.ts';
import { ambiguity } from './plugins/framing.ts';
import { requestId } from './plugins/request-identity.ts';
import { pathOf } from './plugins/request-records.ts';

export type Admission = {
  /** Whether the next create is to be refused, because more come than are stored. */
  isFull: () => boolean;
  /** The create with this request id was refused. */
  refused: (request: string) => void;
};

const refusal = new ApiError('notStored');
const body = JSON.stringify(errorBody(refusal));
const headers = { ...errorHeaders(refusal), 'content-length': Buffer.byteLength(body) };

/**
 * Refuses creates while there are too many, and passes everything else to the handler: before token, routing and body,
 * so that most of what a refusal costs is the read and the write on its socket. Otherwise refusing would take the time
 * that is needed for the creates that are accepted. Nothing was stored, so 5001 is true whatever else could be said
 * about the request. Requests for other paths, and those after which the connection must be closed, are answered as
 * ever.
 */
export function refusingWhenFull(
  { admission, closing }: { admission: Admission; closing: () => boolean },
  handle: RequestListener,
): RequestListener {
  return (request, response) => {
    if (request.method !== 'POST' || !admission.isFull() || !isPlainCreate(request))
      return handle(request, response);
    const id = requestId(request);
    admission.refused(id);
    response.writeHead(refusal.status, {
      ...headers,
      'x-request-id': id,
      ...(closing() && { connection: 'close' }),
    });
    response.end(body);
  };
}

function isPlainCreate(request: IncomingMessage): boolean {
  return pathOf(request.url ?? '') === '/plants' && ambiguity(request) === undefined;
}
