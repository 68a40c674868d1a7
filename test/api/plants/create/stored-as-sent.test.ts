import fc from 'fast-check';
import { expect, test } from 'vitest';
import { apiUnderTest } from '../../../harness/api.ts';
import { freshId, postPlant } from '../../../harness/post-plant.ts';

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

test('ids come back as sent, in every spelling', async () => {
  const used = new Set<bigint>();
  const fresh = int64.filter((id) => !used.has(id));
  await fc.assert(
    fc.asyncProperty(
      fresh.chain((id) => fc.tuple(fc.constant(id), spelling(id))),
      async ([id, literal]) => {
        if (used.has(id)) return;
        used.add(id);
        const { status } = await postPlant(api.url, { id: literal, name: literal });
        expect({ literal, status }).toEqual({ literal, status: 200 });
        // The database compares as int64: a double or a rounded id would not be found, or be of another type.
        expect(await api.plants.countDocuments({ _id: { $eq: id, $type: 'long' } })).toBe(1);
        expect(await api.plants.findOne({ _id: id })).toMatchObject({ _id: id, name: literal });
      },
    ),
    { numRuns: 400 },
  );
});

const text = fc.string({ unit: 'binary', maxLength: 200 });

test('names and tags come back as sent, in the answer and from the database', async () => {
  await fc.assert(
    fc.asyncProperty(text, fc.option(text, { nil: undefined }), async (name, tag) => {
      const id = freshId();
      const plant = tag === undefined ? { id, name } : { id, name, tag };
      const { status, body } = await postPlant(api.url, plant);
      const { id: _, ...sent } = plant;
      expect({ status, body }).toEqual({ status: 200, body: sent });
      const stored = await api.plants.findOne({ _id: id }, { projection: { _id: 0, name: 1, tag: 1 } });
      expect(stored).toEqual(sent);
    }),
    { numRuns: 400 },
  );
});
