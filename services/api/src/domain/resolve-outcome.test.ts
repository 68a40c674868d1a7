import { describe, expect, test } from 'vitest';
import type { Creation } from './creation.ts';
import type { StoredPlant } from './plant-store.ts';
import { type ResolvedOutcome, resolveOutcome } from './resolve-outcome.ts';

const creation: Creation = {
  plant: { id: 1n, name: 'a', tag: 't' },
  principal: { subject: 's', issuer: 'i', tokenId: 'j' },
  origin: { address: '::1', request: 'r', requestBy: 'client' },
  keyHash: 'k',
  deadline: 0,
};
const { keyHash: _, ...withoutKey } = creation;
const stored: StoredPlant = {
  plant: creation.plant,
  principal: creation.principal,
  commit: 'earlier',
  keyHash: 'k',
};
const { keyHash: __, ...storedWithoutKey } = stored;

const otherContent = { plant: { id: 1n, name: 'b', tag: 't' } };
const otherSubject = { principal: { subject: 'x', issuer: 'i' } };
const otherIssuer = { principal: { subject: 's', issuer: 'x' } };
const noIssuer = { principal: { subject: 's' } };
const otherToken = { principal: { subject: 's', issuer: 'i', tokenId: 'another' } };

test('nothing found by a majority is nothing known', () => {
  expect(resolveOutcome(creation, undefined, 'ours')).toBe('absent');
  expect(resolveOutcome(creation, undefined)).toBe('absent');
});

test('a foreign document takes the id, and the answer says nothing more', () => {
  expect(resolveOutcome(creation, 'foreign', 'ours')).toBe('exists');
  expect(resolveOutcome(creation, 'foreign')).toBe('exists');
});

describe('a plant of this commit proves our own write, whatever else is read', () => {
  test.each([stored, storedWithoutKey, { ...stored, ...otherContent }, { ...stored, ...otherSubject }])(
    '%#',
    (found) => {
      expect(resolveOutcome(creation, { ...found, commit: 'ours' }, 'ours')).toBe('created');
    },
  );
});

describe('a plant of another commit', () => {
  test.each<[string, Creation, StoredPlant, ResolvedOutcome]>([
    ['same key, content and subject', creation, stored, 'replayed'],
    ['another token of the subject', creation, { ...stored, ...otherToken }, 'replayed'],
    ['same key and subject, other content', creation, { ...stored, ...otherContent }, 'key-reused'],
    ['same key, no tag instead of one', creation, { ...stored, plant: { id: 1n, name: 'a' } }, 'key-reused'],
    [
      'same key, an empty tag instead of one',
      creation,
      { ...stored, plant: { id: 1n, name: 'a', tag: '' } },
      'key-reused',
    ],
    ['another key, same content', creation, { ...stored, keyHash: 'x' }, 'exists-identical'],
    ['no key there, same content', creation, storedWithoutKey, 'exists-identical'],
    ['no key here, same content', withoutKey, stored, 'exists-identical'],
    ['no key at all, same content', withoutKey, storedWithoutKey, 'exists-identical'],
    ['no key at all, other content', withoutKey, { ...storedWithoutKey, ...otherContent }, 'exists'],
    ['another key, other content', creation, { ...stored, keyHash: 'x', ...otherContent }, 'exists'],
    ['same key and content, another subject', creation, { ...stored, ...otherSubject }, 'exists'],
    ['same key and content, another issuer', creation, { ...stored, ...otherIssuer }, 'exists'],
    ['same key and content, no issuer', creation, { ...stored, ...noIssuer }, 'exists'],
    ['other content, another subject', creation, { ...stored, ...otherContent, ...otherSubject }, 'exists'],
  ])('%s', (_name, ours, found, outcome) => {
    expect(resolveOutcome(ours, found, 'ours')).toBe(outcome);
    // Without a commit, as when a known id is looked up before anything is sent.
    expect(resolveOutcome(ours, found)).toBe(outcome);
  });
});
