import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { errorCatalogue } from '@plant-store/contracts/error-catalogue';
import { expect, test } from 'vitest';
import { documentedRefusals } from './documented-answers.ts';

const docs = resolve(import.meta.dirname, '../../docs');
const page = await readFile(`${docs}/errors.md`, 'utf8');
const refusals = documentedRefusals(JSON.parse(await readFile(`${docs}/openapi.json`, 'utf8')));
const numbers = Object.entries(errorCatalogue)
  .map(([name, { error }]) => ({ name, error }))
  .sort((a, b) => a.error - b.error);
const entries = page.split(/^## /m).slice(1);

test('no number stands twice in the catalogue', () => {
  expect(new Set(numbers.map(({ error }) => error)).size).toBe(numbers.length);
});

test('the page has one entry for each number of the catalogue, in order, under its name', () => {
  expect(entries.map((entry) => entry.split('\n', 1)[0])).toEqual(
    numbers.map(({ error, name }) => `${error} ${name}`),
  );
});

test.each(entries.map((entry) => [entry.slice(0, 4), entry] as const))(
  '%s says what it means, what the client does and what the operator looks at',
  (_number, entry) => {
    const [means, client, operator] = ['Means', 'Client', 'Operator'].map(
      (label) => new RegExp(`^- \\*\\*${label}:\\*\\* (\\S[^]*?)(?=\\n- \\*\\*|\\n*$)`, 'm').exec(entry)?.[1],
    );
    for (const text of [means, client]) expect(text?.length).toBeGreaterThan(10);
    expect(operator).toMatch(/\S{4}/);
    expect(entry).not.toMatch(/\b(?:TODO|TBD)\b/);
  },
);

test('the table links each entry and gives it the statuses of the interface document', () => {
  const rows = [...page.matchAll(/^\| \[(\d{4})\]\(#(\S+)\) \| ([\d, ]+) \| (.+) \|$/gm)];
  expect(rows.map(([, number, anchor, statuses]) => ({ number, anchor, statuses }))).toEqual(
    numbers.map(({ error, name }) => ({
      number: String(error),
      anchor: `${error}-${name.toLowerCase()}`,
      statuses: refusals
        .filter(({ body }) => body.error === error)
        .map(({ status }) => status)
        .join(', '),
    })),
  );
});

test('5001 is told to speak of its own request alone', () => {
  const notStored = entries.find((entry) => entry.startsWith('5001')) as string;
  expect(notStored.replaceAll(/\s+/g, ' ')).toContain(
    'It speaks of this request alone: when an earlier attempt ended in 5002 or without an answer, that one may still ' +
      'have stored the plant, so keep repeating with the key until 200 or 400.',
  );
});
