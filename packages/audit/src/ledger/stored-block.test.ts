import { BSON, ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import { GENESIS, sealBlock } from './audit-block.ts';
import type { AuditEntry } from './audit-entry.ts';
import { MalformedBlock, readBlock, storedBlock } from './stored-block.ts';

const COMMIT = new ObjectId('6650f0c2a1b2c3d4e5f60700');

const common = {
  when: new Date('2026-03-04T05:06:07.008Z'),
  from: { address: 'a', request: 'r', instance: 'i' },
};
const creation: AuditEntry = {
  event: -(2n ** 63n),
  action: 'created',
  plant: -(2n ** 63n),
  content: '01'.repeat(32),
  commit: COMMIT,
  who: { sub: 's', jti: 'j' },
  ...common,
};
const action: AuditEntry = {
  event: new ObjectId(),
  action: 'paused',
  outcome: 'done',
  target: 'queue',
  affected: 3,
  who: { sub: 'ada' },
  ...common,
};
const block = sealBlock(1, GENESIS, [creation, action], 'worker-1', common.when);
type Fields = Record<string, unknown>;
const stored = (): Fields & { entries: [Fields, Fields] } =>
  BSON.deserialize(BSON.serialize(storedBlock(block)), { useBigInt64: true }) as never;

test("a block is read back as it was sealed, the database's own _id aside", () => {
  expect(readBlock({ _id: new ObjectId(), ...stored() })).toEqual(block);
});

test('a block with the time of publication is read back as it was sealed', () => {
  const published = { first: new Date(1), last: new Date(2) };
  const sealed = sealBlock(1, GENESIS, [creation], 'worker-1', common.when, published);
  const bytes = BSON.serialize(storedBlock(sealed));
  expect(readBlock(BSON.deserialize(bytes, { useBigInt64: true }))).toEqual(sealed);
});

test.each<[string, Fields, string]>([
  ['of the first format', { version: 1 }, 'version is 1, not 2'],
  ['with a field of nobody', { note: 'x' }, 'the block has an unknown field note'],
  ['without entries', { entries: undefined }, 'entries is no array'],
  ['with a short hash', { hash: Buffer.alloc(31) }, 'hash is no hash'],
  ['with a long hash', { root: Buffer.alloc(33) }, 'root is no hash'],
  ['with a broken height', { height: 1.5 }, 'height is no whole number'],
  ['without a time', { time: 'today' }, 'time is no time'],
  ['published at no time', { published: null }, 'published is no object'],
  ['published once', { published: { first: new Date() } }, 'last is no time'],
  [
    'published by somebody',
    { published: { first: new Date(), last: new Date(), by: 'x' } },
    'the time of publication has an unknown field by',
  ],
])('a block %s is refused, naming the field', (_case, change, reason) => {
  expect(() => readBlock({ ...stored(), ...change })).toThrow(new MalformedBlock(reason));
});

test.each<[string, 0 | 1, Fields, string]>([
  ['with a field of nobody', 0, { note: 'x' }, 'the entry has an unknown field note'],
  ['of a creation that names another plant', 0, { plant: 5n }, 'names another plant'],
  ['of a creation with another action', 0, { action: 'removed' }, 'is not "created"'],
  ['whose event is text', 0, { event: 'created:5' }, 'event is no ObjectId'],
  ['without a commit', 0, { commit: 'abc' }, 'commit is no ObjectId'],
  ['with no subject text', 0, { who: { sub: 5 } }, 'sub is no string'],
  ['of an action with content', 1, { content: Buffer.alloc(32) }, 'the entry has an unknown field content'],
  ['of an action whose reason is no text', 1, { reason: 5 }, 'reason is no string'],
])('an entry %s is refused', (_case, index, change, reason) => {
  const document = stored();
  document.entries[index] = { ...document.entries[index], ...change };
  expect(() => readBlock(document)).toThrow(reason);
});
