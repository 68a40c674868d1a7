import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { expectTest, namedTests, root } from './named-tests.ts';

const page = readFileSync(join(root, 'docs/invariants.md'), 'utf8');
const sections = page.split(/^### /m).slice(1);
const nameOf = (section: string) => section.slice(0, section.indexOf(':'));

test('each invariant of storage, events and liveness has its section, in order', () => {
  const range = (letter: string, count: number) =>
    Array.from({ length: count }, (_, n) => `${letter}${n + 1}`);
  expect(sections.map(nameOf)).toEqual([...range('S', 6), ...range('E', 6), ...range('L', 5)]);
});

test.each(sections.map((section) => [nameOf(section), section] as const))(
  '%s says where the code holds it, and names tests that show it',
  (_name, section) => {
    const [, held = '', shown = ''] =
      /^Held (.*)Shown by:(.*)/ms.exec(section.replaceAll('\n', ' ').replace(/.*?(?=Held )/s, '')) ?? [];
    const places = [...held.matchAll(/`([^`]+)`/g)].map(([, place]) => place as string);
    const paths = places.filter((place) => place.includes('/'));
    expect(paths.length).toBeGreaterThan(0);
    for (const path of paths) expect(existsSync(join(root, path)), path).toBe(true);
    expect(namedTests(shown).length).toBeGreaterThan(0);
    for (const named of namedTests(shown)) expectTest(named);
  },
);

test('whatever the code cites is defined', () => {
  const defined = new Set(sections.map(nameOf));
  const cited = globSync('{packages,services,deploy,test}/**/*.ts', {
    cwd: root,
    exclude: ['**/node_modules/**'],
  }).flatMap((file) => {
    const source = readFileSync(join(root, file), 'utf8');
    return [...source.matchAll(/\(([SEL]\d)(?: and ([SEL]\d))?\)/g)].flatMap(([, ...names]) =>
      names.filter(Boolean),
    );
  });
  expect(cited.length).toBeGreaterThan(5);
  expect([...new Set(cited)].filter((name) => !defined.has(name as string))).toEqual([]);
});
