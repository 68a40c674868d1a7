import { createHash } from 'node:crypto';
import { ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import {
  type AuditEntry,
  type CreationEntry,
  canonicalEntry,
  contentHash,
  type OperatorEntry,
} from './audit-entry.ts';

const COMMIT = new ObjectId('6650f0c2a1b2c3d4e5f60700');

const creation: CreationEntry = {
  event: -(2n ** 63n),
  action: 'created',
  plant: -(2n ** 63n),
  content: 'ab'.repeat(32),
  commit: COMMIT,
  who: { sub: 'client "a"\u0000', jti: 'token-1' },
  when: new Date('2026-03-04T05:06:07.008Z'),
  from: { request: 'r-1', address: '192.0.2.7', instance: 'api-1' },
};

const action: OperatorEntry = {
  event: new ObjectId('6650f0c2a1b2c3d4e5f60718'),
  action: 'paused',
  outcome: 'done',
  target: 'queue plant-creations',
  reason: 'maintenance – "disk"',
  before: 'running',
  after: 'paused',
  affected: 12,
  who: { sub: 'ada' },
  when: new Date('2026-03-04T05:06:07.008Z'),
  from: { request: 'r-2', address: '192.0.2.9', instance: 'ops' },
};

test('the canonical form of a creation is fixed to the byte', () => {
  expect(canonicalEntry(creation)).toBe(
    `{"action":"created","commit":"6650f0c2a1b2c3d4e5f60700","content":"${'ab'.repeat(32)}","event":"-9223372036854775808",` +
      '"from":{"address":"192.0.2.7","instance":"api-1","request":"r-1"},"plant":"-9223372036854775808",' +
      '"when":"2026-03-04T05:06:07.008Z","who":{"jti":"token-1","sub":"client \\"a\\"\\u0000"}}',
  );
});

test('the canonical form of what an operator did is fixed to the byte', () => {
  expect(canonicalEntry(action)).toBe(
    '{"action":"paused","affected":12,"after":"paused","before":"running","event":"6650f0c2a1b2c3d4e5f60718",' +
      '"from":{"address":"192.0.2.9","instance":"ops","request":"r-2"},"outcome":"done",' +
      '"reason":"maintenance – \\"disk\\"","target":"queue plant-creations",' +
      '"when":"2026-03-04T05:06:07.008Z","who":{"sub":"ada"}}',
  );
});

test.each([
  ['a creation', creation],
  ['a creation with every claim', { ...creation, who: { sub: 's', iss: 'i', jti: 'j' } }],
  ['what an operator did', action],
  ['text beyond ASCII', { ...creation, from: { ...creation.from, request: 'é\u2028🌹\t' } }],
])(
  '%s is written as RFC 8785 wants: members in the order of their names, strings as JSON.stringify does',
  (_case, entry) => {
    const form = canonicalEntry(entry);
    const sorted = JSON.stringify(JSON.parse(form), (_key, value: unknown) =>
      typeof value === 'object' && value !== null
        ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
        : value,
    );
    expect(form).toBe(sorted);
  },
);

test('every field of an entry is covered, one that is added later too', () => {
  const changed: AuditEntry[] = [
    { ...creation, event: 1n },
    { ...creation, plant: 1n },
    { ...creation, content: '00'.repeat(32) },
    { ...creation, commit: new ObjectId('6650f0c2a1b2c3d4e5f60701') },
    { ...creation, who: { sub: 'other', jti: 'token-1' } },
    { ...creation, who: { sub: creation.who.sub, iss: 'token-1' } },
    { ...creation, when: new Date(0) },
    { ...creation, from: { ...creation.from, address: '192.0.2.8' } },
    { ...creation, from: { ...creation.from, request: 'r-2' } },
    { ...creation, from: { ...creation.from, instance: 'api-2' } },
    { ...creation, from: { ...creation.from, added: 'x' } as CreationEntry['from'] },
    { ...action, event: new ObjectId('6650f0c2a1b2c3d4e5f60719') },
    { ...action, action: 'resumed' },
    { ...action, outcome: 'refused' },
    { ...action, target: 'job 1' },
    { ...action, reason: 'other' },
    { ...action, before: 'other' },
    { ...action, after: 'other' },
    { ...action, affected: 13 },
    { ...action, who: { sub: 'eve' } },
  ];
  const forms = [creation, action, ...changed].map(canonicalEntry);
  expect(new Set(forms).size).toBe(forms.length);
});

test('the content hash tells an absent tag from an empty one, and can be computed by anyone', () => {
  const plain = contentHash({ id: 7n, name: 'Rose' });
  expect(plain).toBe(createHash('sha256').update('{"id":"7","name":"Rose"}').digest('hex'));
  expect(plain).not.toBe(contentHash({ id: 7n, name: 'Rose', tag: '' }));
});
