import { expect, test } from 'vitest';
import { apiUnderTest } from '../../harness/api/api.ts';
import { expectRefusal } from '../../harness/api/refusal.ts';
import { token } from '../../harness/api/tokens.ts';
import { exchange, rawConnection } from '../../harness/network/raw-http.ts';
import { type RequestParts, render } from '../corpus/case.ts';

const api = apiUnderTest({ AUTH_SCOPE: 'plants:write' });

/** What can be wrong with one request, in the order in which it is judged. */
const faults: { wrong: RequestParts; status: number; error: number }[] = [
  { wrong: { headers: { Host: 'not a host' } }, status: 400, error: 1007 },
  { wrong: { target: '/nowhere' }, status: 404, error: 3000 },
  { wrong: { method: 'PUT' }, status: 405, error: 3001 },
  { wrong: { headers: { Authorization: undefined } }, status: 401, error: 2000 },
  { wrong: { headers: { Authorization: 'Bearer x' } }, status: 401, error: 2001 },
  { wrong: { headers: { Authorization: `Bearer ${token()}` } }, status: 403, error: 2002 },
  { wrong: { headers: { 'Content-Type': 'text/plain' } }, status: 400, error: 1003 },
  { wrong: { body: '{' }, status: 400, error: 1000 },
  { wrong: { body: '{}' }, status: 400, error: 1001 },
  { wrong: { headers: { 'Idempotency-Key': '' } }, status: 400, error: 1005 },
];

const good: RequestParts = {
  headers: { Authorization: `Bearer ${token({ claims: { scope: 'plants:write' } })}` },
};

/** All that is wrong at once; of two that cannot go together, the first in the order. */
function together(parts: readonly RequestParts[]): RequestParts {
  const sum: RequestParts = { ...good };
  for (const part of parts.toReversed()) {
    const headers = { ...sum.headers, ...part.headers };
    Object.assign(sum, part, { headers });
  }
  return sum;
}

test.each(faults.map((fault, index) => ({ ...fault, rest: faults.slice(index) })))(
  '$error is told before whatever is judged later',
  async ({ status, error, rest }) => {
    expectRefusal(await exchange(api.url, render(together(rest.map(({ wrong }) => wrong)))), status, error);
  },
);

const beforeTheBody = faults.slice(0, 7);

test.each(beforeTheBody)(
  '$error is told while the body has not arrived',
  async ({ wrong, status, error }) => {
    const request = together([wrong, { body: '', headers: { 'Content-Length': '1000' } }]);
    // The body never comes: whoever waited for it would answer 408.
    expectRefusal(await exchange(api.url, render(request)), status, error);
  },
);

test('a good request waits for the rest, wherever it is cut', async () => {
  for (const cutAt of [1, 20, -30, -1]) {
    const request = render(good);
    await using connection = await rawConnection(api.url);
    connection.send(request.subarray(0, cutAt));
    // Its first part has arrived once a later request is answered.
    await exchange(api.url, render(good));
    connection.send(request.subarray(cutAt));
    expect((await connection.answer()).status).toBe(200);
  }
});
