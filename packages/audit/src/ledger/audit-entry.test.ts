import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { type AuditEntry, canonicalEntry, contentHash } from './audit-entry.ts';

const entry: AuditEntry = {
  event: 'created:-9223372036854775808',
  action: 'created',
  plant: -(2n ** 63n),
  content: Buffer.alloc(32, 0xab),
  who: { sub: 'client "a"\u0000', jti: 'token-1' },
  when: new Date('2026-03-04T05:06:07.008Z'),
  from: { request: 'r-1', address: '192.0.2.7', instance: 'api-1' },
};

test('the canonical form of an entry is fixed to the byte', () => {
  expect(canonicalEntry(entry)).toBe(
    `{"action":"created","content":"${'ab'.repeat(32)}","event":"created:-9223372036854775808",` +
      '"from":{"address":"192.0.2.7","instance":"api-1","request":"r-1"},"plant":"-9223372036854775808",' +
      '"when":"2026-03-04T05:06:07.008Z","who":{"jti":"token-1","sub":"client \\"a\\"\\u0000"}}',
  );
});

test('members stand in the order of their names, as RFC 8785 wants', () => {
  const full = canonicalEntry({ ...entry, target: 'queue', who: { sub: 's', iss: 'i', jti: 'j' } });
  const sorted = JSON.stringify(JSON.parse(full), (_key, value: unknown) =>
    typeof value === 'object' && value !== null
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
  expect(full).toBe(sorted);
});

test('every field of an entry is covered', () => {
  const changed: AuditEntry[] = [
    { ...entry, event: 'created:1' },
    { ...entry, action: 'removed' },
    { ...entry, plant: 1n },
    { ...entry, content: Buffer.alloc(32) },
    { ...entry, target: 'x' },
    { ...entry, who: { sub: 'other', jti: 'token-1' } },
    { ...entry, who: { sub: entry.who.sub, iss: 'token-1' } },
    { ...entry, when: new Date(0) },
    { ...entry, from: { ...entry.from, address: '192.0.2.8' } },
    { ...entry, from: { ...entry.from, request: 'r-2' } },
    { ...entry, from: { ...entry.from, instance: 'api-2' } },
  ];
  const forms = [entry, ...changed].map(canonicalEntry);
  expect(new Set(forms).size).toBe(forms.length);
});

test('the content hash tells an absent tag from an empty one, and can be computed by anyone', () => {
  const plain = contentHash({ id: 7n, name: 'Rose' });
  expect(plain).toEqual(createHash('sha256').update('{"id":"7","name":"Rose"}').digest());
  expect(plain).not.toEqual(contentHash({ id: 7n, name: 'Rose', tag: '' }));
});
