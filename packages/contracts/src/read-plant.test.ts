import { ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import { InvalidPlant, readPlant } from './read-plant.ts';

const plant = {
  _id: 7n,
  name: 'Rose',
  created: new Date(),
  commit: new ObjectId(),
  pending: true,
  by: { sub: 's' },
  from: { address: 'a', request: 'r', instance: 'i' },
};

test('what the API stores is read as it is, with and without the optional fields', () => {
  expect(readPlant(plant)).toBe(plant);
  const full = { ...plant, tag: '', by: { sub: 's', iss: 'i', jti: 'j' } };
  expect(readPlant(full)).toBe(full);
});

test.each([
  [{ ...plant, _id: 7 }, '_id must be an int64'],
  [{ ...plant, name: undefined }, 'name must be a string'],
  [{ ...plant, name: 'x'.repeat(300_000) }, 'name is too long'],
  [{ ...plant, tag: null }, 'tag must be a string'],
  [{ ...plant, created: '2026-01-01' }, 'created must be a date'],
  [{ ...plant, created: new Date(Number.NaN) }, 'created must be a date'],
  [{ ...plant, commit: [plant.commit] }, 'commit must be an ObjectId'],
  [{ ...plant, commit: { _bsontype: 'ObjectId' } }, 'commit must be an ObjectId'],
  [{ ...plant, by: undefined }, 'by must be an object'],
  [{ ...plant, by: { sub: 1 } }, 'by.sub must be a string'],
  [{ ...plant, by: { sub: 's', jti: 1 } }, 'by.jti must be a string'],
  [{ ...plant, by: { sub: 's', role: ['admin'] } }, 'by.role must be a string'],
  [{ ...plant, by: { sub: 's', _bsontype: 'Int32' } }, 'by must have no _bsontype'],
  [{ ...plant, from: null }, 'from must be an object'],
  [{ ...plant, from: { address: 'a', instance: 'i' } }, 'from.request must be a string'],
  ['no document', 'the document must be an object'],
])('a document that is no plant is refused by name of the field: %#', (document, rule) => {
  expect(() => readPlant(document)).toThrow(InvalidPlant);
  expect(() => readPlant(document)).toThrow(rule);
});
