import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect } from 'vitest';

export const root = resolve(import.meta.dirname, '../..');

export type NamedTest = { file: string; title: string };

/** The tests a page names: each `file` with the “titles” that follow it. */
export function namedTests(page: string): NamedTest[] {
  const text = page.replaceAll(/\s+/g, ' ');
  return [...text.matchAll(/`([^`]+\.test\.ts)`((?:,? “[^”]+”)+)/g)].flatMap(([, file, titles]) =>
    [...(titles as string).matchAll(/“([^”]+)”/g)].map(([, title]) => ({
      file: file as string,
      title: title as string,
    })),
  );
}

/** Asserts that the file holds a test of that title, and that it is not switched off. */
export function expectTest({ file, title }: NamedTest): void {
  const path = resolve(root, file);
  expect(existsSync(path), `${file} exists`).toBe(true);
  const source = readFileSync(path, 'utf8');
  const quoted = ["'", '"', '`'].map((quote) => `${quote}${title}${quote}`);
  const at = quoted.map((text) => source.indexOf(text)).find((position) => position >= 0);
  expect(at, 'a test of that title').toBeDefined();
  expect(source.slice(0, at).split('\n').slice(-2).join('\n')).not.toMatch(/\.(?:skip|todo|only|fails)\(/);
}
