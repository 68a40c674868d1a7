import { describe, expect, test } from 'vitest';
import { apiUnderTest } from '../../harness/api/api.ts';
import { token } from '../../harness/api/tokens.ts';
import { LONG, longValues } from '../../harness/network/long-values.ts';
import { type RawConnection, rawConnection } from '../../harness/network/raw-http.ts';
import { render } from '../corpus/case.ts';

const api = apiUnderTest({ TRUSTED_PROXIES: '127.0.0.1' });

/** Every header that the API or a library below it reads, with the beginning of a value that is read on. */
const headers: Record<string, string> = {
  Host: 'a',
  Authorization: 'Bearer a',
  'Content-Type': 'application/json',
  'Content-Encoding': 'identity',
  'Content-Length': '2',
  'Transfer-Encoding': 'chunked',
  Connection: 'keep-alive',
  Expect: '100-continue',
  'Idempotency-Key': '"a',
  'X-Request-Id': 'a',
  'X-Request-Id-By': 'client',
  'X-Forwarded-For': '127.0.0.1',
  'X-Forwarded-Host': 'a',
  'X-Forwarded-Proto': 'http',
  Traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
};
/** A pattern that looks twice at each of 15,000 characters takes 70 ms or more, one that looks once less than 1 ms. */
const CPU_MS_MAX = 50;
/** A collection of garbage may fall into one attempt; what is slow is slow each time. */
const ATTEMPTS = 3;

describe.each(Object.entries(headers))('%s', (name, start) => {
  test.each(longValues)('%s each separator, 15,000 characters long, costs no time', async (_, values) => {
    const slow: string[] = [];
    for (const { separator, value } of values(start)) {
      const cpuMs = await leastCpu(render({ headers: { [name]: value } }));
      if (cpuMs > CPU_MS_MAX) slow.push(`${JSON.stringify(separator)}: ${cpuMs} ms`);
    }
    expect(slow).toEqual([]);
  });
});

/** The processor time of this process, in which the API is, for the request and whatever answers it; the best attempt. */
async function leastCpu(request: Buffer): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < ATTEMPTS && least > CPU_MS_MAX; attempt++) {
    await using connection = await rawConnection(api.url);
    const before = process.cpuUsage();
    connection.send(request);
    await answerOrEnd(connection);
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1_000);
  }
  return least;
}

/** Some of these requests wait for a body that never comes; they are judged by their head all the same. */
async function answerOrEnd(connection: RawConnection): Promise<void> {
  await connection.answer({ withinMs: 1_000 }).catch(() => undefined);
}

test('a head with 15,000 characters in one header is read', async () => {
  await using connection = await rawConnection(api.url);
  const headers = { Authorization: `Bearer ${token()}`, 'X-Note': 'a'.repeat(LONG) };
  connection.send(render({ headers }));
  expect((await connection.answer()).status).toBe(200);
});
