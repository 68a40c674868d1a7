import type { PlantDocument } from '@plant-store/contracts/plant-document';
import { ObjectId } from 'mongodb';

/** In UTF-16 units. A longer text exceeds the largest request, so the API did not write it. */
const STRING_LENGTH_MAX = 256 * 1024;

/**
 * Checks a stored document and returns it as a plant. The API writes only valid ones; a restored backup or an edit in
 * the MongoDB shell may leave others.
 * @throws TypeError naming the field and the rule
 */
export function readPlant(document: unknown): PlantDocument {
  const plant = record(document, 'the document');
  expect(typeof plant['_id'] === 'bigint', '_id must be an int64');
  string(plant['name'], 'name');
  if (plant['tag'] !== undefined) string(plant['tag'], 'tag');
  const created = plant['created'];
  expect(created instanceof Date && !Number.isNaN(created.valueOf()), 'created must be a date');

  expect(plant['commit'] instanceof ObjectId, 'commit must be an ObjectId');

  strings(plant['by'], 'by', ['sub']);
  strings(plant['from'], 'from', ['address', 'request', 'instance']);
  return document as PlantDocument;
}

/** Members other than the expected ones are audited as well, so they must be strings too. */
function strings(value: unknown, name: string, required: readonly string[]): void {
  const members = record(value, name);
  for (const member of required) string(members[member], `${name}.${member}`);
  for (const [member, text] of Object.entries(members)) string(text, `${name}.${member}`);
  // The driver would take the object for one of its own types.
  expect(!('_bsontype' in members), `${name} must have no _bsontype`);
}

function record(value: unknown, name: string): Record<string, unknown> {
  expect(typeof value === 'object' && value !== null, `${name} must be an object`);
  return value as Record<string, unknown>;
}

function string(value: unknown, name: string): void {
  expect(typeof value === 'string', `${name} must be a string`);
  expect((value as string).length <= STRING_LENGTH_MAX, `${name} is too long`);
}

function expect(holds: boolean, rule: string): void {
  if (!holds) throw new TypeError(rule);
}
