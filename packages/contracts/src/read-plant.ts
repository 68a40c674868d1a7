import type { PlantDocument } from './plant-document.ts';

/** In UTF-16 units. A longer text exceeds the largest request, so the API did not write it. */
const STRING_LENGTH_MAX = 256 * 1024;

/** A stored document is no plant; the message names the field and the rule. */
export class InvalidPlant extends TypeError {
  override readonly name = 'InvalidPlant';
  /** The field that breaks the rule, as `by.sub`; empty for the document as a whole. */
  readonly field: string;

  constructor(field: string, rule: string) {
    super(`${field === '' ? 'the document' : field} ${rule}`);
    this.field = field;
  }
}

/**
 * Checks a stored document and returns it as a plant. The API writes only valid ones; a restored backup or an edit in
 * the MongoDB shell may leave others.
 * @throws InvalidPlant
 */
export function readPlant(document: unknown): PlantDocument {
  const plant = record(document, '');
  expect(typeof plant['_id'] === 'bigint', '_id', 'must be an int64');
  string(plant['name'], 'name');
  if (plant['tag'] !== undefined) string(plant['tag'], 'tag');
  const created = plant['created'];
  expect(created instanceof Date && !Number.isNaN(created.valueOf()), 'created', 'must be a date');

  expect(isObjectId(plant['commit']), 'commit', 'must be an ObjectId');

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
  expect(!('_bsontype' in members), name, 'must have no _bsontype');
}

function record(value: unknown, name: string): Record<string, unknown> {
  expect(typeof value === 'object' && value !== null, name, 'must be an object');
  return value as Record<string, unknown>;
}

function string(value: unknown, name: string): void {
  expect(typeof value === 'string', name, 'must be a string');
  expect((value as string).length <= STRING_LENGTH_MAX, name, 'is too long');
}

/** No document can hold a function, so one that merely has the driver's `_bsontype` is told apart. */
function isObjectId(value: unknown): boolean {
  const { _bsontype, toHexString } = (value ?? {}) as Partial<PlantDocument['commit']>;
  return _bsontype === 'ObjectId' && typeof toHexString === 'function';
}

function expect(holds: boolean, field: string, rule: string): void {
  if (!holds) throw new InvalidPlant(field, rule);
}
