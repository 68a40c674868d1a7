import { expect, test } from 'vitest';
import type { ApiUnderTest } from '../../harness/api/api.ts';
import { expectRefusal, expectRefusalHeaders } from '../../harness/api/refusal.ts';
import { exchange, type RawAnswer, rawConnection } from '../../harness/network/raw-http.ts';
import { type Case, render } from './case.ts';

/**
 * One test a case, over a real connection: the answer that is due, and after it a good request that is served, on the
 * same connection where the answer leaves it open.
 */
export function corpusTests(api: ApiUnderTest, cases: readonly Case[]): void {
  test.each(cases)('$name: $status $error', async (subject) => {
    await using connection = await rawConnection(api.url);
    connection.send(render(subject));
    const answer = await connection.answer({ head: subject.method === 'HEAD' });
    expectAnswer(answer, subject);
    expect((await nextOne(answer)).status).toBe(200);

    async function nextOne({ headers }: RawAnswer): Promise<RawAnswer> {
      if (headers.get('connection') === 'close') {
        expect(await connection.ended()).toBe('');
        return exchange(api.url, render({}));
      }
      connection.send(render({}));
      return connection.answer();
    }
  });
}

function expectAnswer(answer: RawAnswer, { method, status, error, message }: Case): void {
  if (error === undefined) {
    expect({ status: answer.status, body: answer.body }).toEqual({
      status,
      body: expect.stringMatching(/^{"name":"/),
    });
    expect(answer.headers.get('content-type')).toMatch(/^application\/json(; charset=utf-8)?$/);
  } else if (method === 'HEAD') {
    expect(answer.status).toBe(status);
    expectRefusalHeaders(answer, status, error);
  } else {
    expectRefusal(answer, status, error);
    if (message !== undefined) expect(JSON.parse(answer.body).message).toMatch(message);
  }
}
