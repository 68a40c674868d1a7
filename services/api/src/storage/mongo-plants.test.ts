import fc from 'fast-check';
import { BSON } from 'mongodb';
import { expect, test } from 'vitest';
import type { Creation } from '../domain/creation.ts';
import { documentBytes } from '../domain/group-commit.ts';
import { toDocuments } from './mongo-plants.ts';

const text = fc.string({ unit: 'binary', maxLength: 255 });
const creation: fc.Arbitrary<Creation> = fc.record(
  {
    plant: fc.record(
      { id: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), name: text, tag: text },
      { requiredKeys: ['id', 'name'] },
    ),
    principal: fc.record({ subject: text, issuer: text, tokenId: text }, { requiredKeys: ['subject'] }),
    origin: fc.record({
      address: fc.constantFrom('::1', 'ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255'),
      request: fc.constantFrom('r', 'r'.repeat(128)),
      requestBy: fc.constantFrom('gateway', 'client', 'api'),
    }),
    keyHash: fc.constant('0'.repeat(64)),
    deadline: fc.constant(0),
  },
  { requiredKeys: ['plant', 'principal', 'origin', 'deadline'] },
);

test('a commit is counted with no less than its documents hold', () => {
  const commit = { id: '0'.repeat(24), created: new Date() };
  fc.assert(
    fc.property(creation, (subject) => {
      const [document = {}] = toDocuments([subject], commit, 'i'.repeat(64));
      expect(documentBytes(subject)).toBeGreaterThanOrEqual(BSON.calculateObjectSize(document));
    }),
    { numRuns: 1_000 },
  );
});
