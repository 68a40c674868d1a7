import { expect } from 'vitest';
import type { RawAnswer } from '../network/raw-http.ts';

/** What a refusal must never show: stacks, words of drivers, parsers and frameworks, paths, tokens. */
const LEAKS =
  /\bat [\w.<]+ ?\(|node:|node_modules|\.ts\b|\/src\/|mongo|bson|E11000|errmsg|ECONN|FST_|HPE_|FAST_JWT|ajv|JSON\.parse|Unexpected|position \d|redis|eyJ/i;

/** Asserts all that holds for every answer outside 200, whatever its number. */
export function expectRefusal(answer: RawAnswer, status: number, error: number): void {
  expect({ status: answer.status, body: answer.body }).toEqual({ status, body: expect.any(String) });
  const body = JSON.parse(answer.body) as { error: number; message: string };
  expect(body).toEqual({ error, message: expect.stringMatching(/\S/) });
  expect(answer.body).not.toMatch(LEAKS);
  expectRefusalHeaders(answer, status, error);
}

/** What the headers alone tell, for answers to HEAD. */
export function expectRefusalHeaders({ headers }: RawAnswer, status: number, error: number): void {
  expect(headers.get('content-type')).toMatch(/^application\/json(; charset=utf-8)?$/);
  expect(headers.get('x-request-id')).toMatch(/^[A-Za-z0-9._-]{1,128}$/);
  expect(headers.get('www-authenticate')).toBe(CHALLENGES.get(error));
  expect(headers.get('allow')).toBe(status === 405 ? 'POST' : undefined);
  if (status === 503) expect(headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  else expect(headers.has('retry-after')).toBe(false);
}

const CHALLENGES = new Map([
  [2000, 'Bearer realm="plants"'],
  [2001, 'Bearer realm="plants", error="invalid_token"'],
  [2002, 'Bearer realm="plants", error="insufficient_scope"'],
]);
