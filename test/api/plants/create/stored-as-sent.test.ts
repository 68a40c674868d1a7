import fc from 'fast-check';
import { expect, test } from 'vitest';
import { apiUnderTest } from '../../../harness/api/api.ts';
import { freshId, postPlant } from '../../../harness/api/post-plant.ts';

const api = apiUnderTest();

const int64 = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.bigInt({ min: -1_000_000n, max: 1_000_000n }),
  // Around the powers of two and ten, where doubles and digit counts change.
  fc
    .tuple(fc.integer({ min: 0, max: 62 }), fc.bigInt({ min: -3n, max: 3n }), fc.boolean())
    .map(([power, off, negative]) => (negative ? -1n : 1n) * 2n ** BigInt(power) + off),
  fc.integer({ min: 0, max: 18 }).map((power) => 10n ** BigInt(power)),
);

/** A spelling of the number that JSON allows: its digits with the point moved by an exponent, and zeros behind. */
const spelling = (id: bigint) =>
  fc
    .record({
      shift: fc.integer({ min: -25, max: 25 }),
      zeros: fc.integer({ min: 0, max: 5 }),
      e: fc.constantFrom('e', 'E'),
      plus: fc.boolean(),
      exponentZeros: fc.integer({ min: 0, max: 3 }),
    })
    .map(({ shift, zeros, e, plus, exponentZeros }) => {
      const sign = id < 0n ? '-' : '';
      const digits = String(id < 0n ? -id : id);
      const padded = shift > 0 ? digits.padStart(digits.length + shift, '0') : digits + '0'.repeat(-shift);
      const whole = (shift > 0 ? padded.slice(0, -shift) : padded).replace(/^0+(?=\d)/, '');
      const behind = (shift > 0 ? padded.slice(-shift) : '') + '0'.repeat(zeros);
      const exponent = `${shift < 0 ? '-' : plus ? '+' : ''}${'0'.repeat(exponentZeros)}${Math.abs(shift)}`;
      const fraction = behind === '' ? '' : `.${behind}`;
      return shift === 0 && exponentZeros === 0
        ? `${sign}${whole}${fraction}`
        : `${sign}${whole}${fraction}${e}${exponent}`;
    });

const spelt = int64.chain((id) => fc.tuple(fc.constant(id), spelling(id)));
const usedIds = new Set<bigint>();

test('ids come back as sent, in every spelling', async () => {
  const groups = fc.uniqueArray(spelt, { minLength: 20, maxLength: 40, selector: ([id]) => id });
  await fc.assert(
    fc.asyncProperty(groups, async (group) => {
      const fresh = group.filter(([id]) => !usedIds.has(id));
      for (const [id] of fresh) usedIds.add(id);
      const answers = fresh.map(async ([, literal]) => {
        const { status } = await postPlant(api.url, { id: literal, name: literal });
        return { literal, status };
      });
      expect(await Promise.all(answers)).toEqual(fresh.map(([, literal]) => ({ literal, status: 200 })));

      // A double, or a rounded id, would be of another type or not found.
      const stored = await api.plants
        .find({ _id: { $in: fresh.map(([id]) => id), $type: 'long' } }, { projection: { name: 1 } })
        .toArray();
      expect(new Map(stored.map(({ _id, name }) => [_id, name]))).toEqual(new Map(fresh));
    }),
    { numRuns: 40 },
  );
});

const text = fc.string({ unit: 'binary', maxLength: 200 });
const fields = fc.record({ name: text, tag: text }, { requiredKeys: ['name'] });

test('names and tags come back as sent, in the answer and from the database', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fields, { minLength: 20, maxLength: 40 }), async (group) => {
      const sent = group.map((plant) => ({ id: freshId(), ...plant }));
      const answers = await Promise.all(sent.map((plant) => postPlant(api.url, plant)));
      expect(answers.map(({ body }) => body)).toEqual(group);

      const stored = await api.plants
        .find({ _id: { $in: sent.map(({ id }) => id) } }, { projection: { name: 1, tag: 1 } })
        .toArray();
      const read = new Map(stored.map(({ _id, ...plant }) => [_id, plant]));
      expect(sent.map(({ id }) => read.get(id))).toEqual(group);
    }),
    { numRuns: 40 },
  );
});
