import { expect, test } from 'vitest';
import { fold, foldedName, words } from './folding.ts';

test.each([
  ['Rose', 'rose'],
  ['Éclair', 'eclair'],
  ['E\u0301clair', 'eclair'],
  ['ÅNGSTRÖM', 'angstrom'],
  ['Straße', 'strasse'],
  ['ΟΔΥΣΣΕΥΣ', 'οδυσσευσ'],
  ['Οδυσσεύς', 'οδυσσευσ'],
  ['Ёлка', 'елка'],
  ['ﬁcus', 'ficus'],
  ['ＲＯＳＥ', 'rose'],
  ['हिन्दी', 'हिन्दी'],
  ['', ''],
])('%s is searched as %s', (text, folded) => {
  expect(fold(text)).toBe(folded);
});

test('folding what is folded changes nothing, so a query may be folded twice', () => {
  for (const text of ['Éclair', 'Straße', 'Οδυσσεύς', 'हिन्दी', '薔薇', 'İstanbul', '한국']) {
    expect(fold(fold(text))).toBe(fold(text));
  }
});

test('words are distinct, of name and tag, without punctuation', () => {
  expect(words('Rose, red rose (No. 7)', 'Flower')).toEqual(['rose', 'red', 'no', '7', 'flower']);
  expect(words('…', undefined)).toEqual([]);
});

test('scripts without spaces are cut into words', () => {
  expect(words('红玫瑰花园')).toEqual(['红', '玫瑰', '花园']);
  expect(words('サボテンの花')).toContain('サボテン');
});

test('a plant costs a bounded number of bounded keys, whatever its name', () => {
  const many = words(Array.from({ length: 5_000 }, (_, index) => `word${index}`).join(' '), 'tag');
  expect(many).toHaveLength(200);
  expect(words('x'.repeat(60_000))).toEqual(['x'.repeat(64)]);
  expect(foldedName('Y'.repeat(60_000))).toBe('y'.repeat(256));
});

test('no cut leaves half a character', () => {
  expect(foldedName(`a${'🌹'.repeat(300)}`).isWellFormed()).toBe(true);
  expect(words(`a${'𝒜'.normalize('NFC')}${'𐐀'.repeat(100)}`).every((word) => word.isWellFormed())).toBe(true);
});

test.each([
  ['marks in alternation', `a${'\u0301\u0323'.repeat(16_000)}`],
  ['marks in two runs', `a${'\u0301'.repeat(16_000)}${'\u0323'.repeat(16_000)}`],
  ['marks of a script that keeps them', `ก${'\u0e48\u0e38'.repeat(10_000)}`],
])('%s, as long as a body may be, are cut before they are normalised', (_case, text) => {
  expect(fold(text).length).toBeLessThanOrEqual(40);
  expect(words(text).length).toBeLessThanOrEqual(1);
});

test('what one plant can cost is bounded by the text that is searched', () => {
  expect(words(`${'- '.repeat(2_048)}beyond`)).toEqual([]);
  expect(words(`${'- '.repeat(2_044)}within`)).toEqual(['within']);
});
