import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { expectTest, namedTests, root } from './named-tests.ts';

const page = readFileSync(resolve(root, 'docs/security.md'), 'utf8');
const [controlled = '', open = ''] = page.split('## Not done, or held by no test');

const controls = controlled
  .split(/^### /m)
  .slice(1)
  .map((text) => ({ name: text.split('\n', 1)[0] as string, text: text.replaceAll(/\s+/g, ' ') }));

const tests = controls.flatMap(({ text }) => namedTests(text));

test('every control names at least one test, and every quoted title belongs to a file', () => {
  expect(controls.filter(({ text }) => namedTests(text).length === 0).map(({ name }) => name)).toEqual([]);
  expect(tests).toHaveLength([...controlled.matchAll(/“/g)].length);
  expect(tests.length).toBeGreaterThan(60);
});

test.each(tests)('$file holds “$title”', expectTest);

test('each risk of the OWASP API Security Top 10 is answered by a control', () => {
  const answered = new Set(controls.flatMap(({ text }) => text.match(/\bAPI\d+\b/g) ?? []));
  expect([...answered].sort((a, b) => Number(a.slice(3)) - Number(b.slice(3)))).toEqual(
    Array.from({ length: 10 }, (_, index) => `API${index + 1}`),
  );
});

test('each chapter of the ASVS is answered, or said not to apply', () => {
  const chapters = new Set(
    [...page.matchAll(/\bV(\d+)(?:\.\d+){0,2}\b/g)].map(([, chapter]) => Number(chapter)),
  );
  expect([...chapters].sort((a, b) => a - b)).toEqual(Array.from({ length: 17 }, (_, index) => index + 1));
  expect(open).toContain('Not applicable');
});
