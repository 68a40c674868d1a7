/** An `edit` that sends a request's body in chunks instead of with its length. */
export function inChunks(format: (body: string) => string = chunk): (request: string) => string {
  return (request) => {
    const end = request.indexOf('\r\n\r\n') + 4;
    const head = request.slice(0, end).replace(/Content-Length: \d+/, 'Transfer-Encoding: chunked');
    return head + format(request.slice(end));
  };
}

/** A body as one chunk and the last, empty one. */
export function chunk(body: string): string {
  return `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
}
