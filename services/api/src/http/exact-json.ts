import { isUtf8 } from 'node:buffer';
import { int64FromJsonNumber } from '@plant-store/contracts/plant-id';
import { ApiError } from './api-error.ts';

/**
 * The fast path: each field once, in the documented order, an id of at most 15 digits (below 2^53, so a double holds
 * it exactly) and no escapes. For a text that matches, `JSON.parse` gives the same result as the exact reading below.
 */
const ORDINARY =
  /^\s*\{\s*"id"\s*:\s*-?\d{1,15}\s*,\s*"name"\s*:\s*"[^"\\]*"\s*(?:,\s*"tag"\s*:\s*"[^"\\]*"\s*)?\}\s*$/;

/**
 * Parses a request body. A numeric `id` of the outermost object becomes a `bigint` when its exact decimal value is an
 * int64. Otherwise it stays a number, which the schema refuses. The `id` is never rounded; all other values are those
 * of `JSON.parse`.
 * @throws ApiError 1000 when the body is not JSON text in UTF-8, or holds a key of the outermost object twice.
 */
export function parseExactJson(body: Buffer): unknown {
  if (!isUtf8(body)) throw new ApiError('malformedJson', 'the body is not valid UTF-8');
  const text = body.toString('utf8');
  const value = parseJson(text);

  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const plant = value as { id?: unknown };
  if (ORDINARY.test(text)) {
    plant.id = BigInt(plant.id as number);
  } else {
    const id = soleMembers(text).get('id');
    if (typeof plant.id === 'number' && id !== undefined) plant.id = int64FromJsonNumber(id) ?? plant.id;
  }
  return plant;
}

function parseJson(text: string): unknown {
  if (text.trim() === '') throw new ApiError('malformedJson', 'the body is empty: send a plant as JSON');
  try {
    return JSON.parse(text);
  } catch {
    const hint = text.startsWith('\uFEFF') ? ': remove the byte order mark' : '';
    throw new ApiError('malformedJson', `the body is not one JSON value${hint}`);
  }
}

/**
 * The members of the outermost object of a text that is known to be valid JSON, as key and literal. It reads in one
 * pass without recursion, so deep nesting cannot overflow the stack. `JSON.parse` would hide duplicate keys and round
 * numbers.
 */
function soleMembers(text: string): Map<string, string> {
  const members = new Map<string, string>();
  let position = text.indexOf('{') + 1;
  for (;;) {
    const keyStart = text.indexOf('"', position);
    if (keyStart < 0) return members;
    const keyEnd = endOfString(text, keyStart);
    const key = JSON.parse(text.slice(keyStart, keyEnd)) as string;
    if (members.has(key))
      throw new ApiError('malformedJson', 'the body names one key twice: send each key once');

    const valueStart = text.indexOf(':', keyEnd) + 1;
    const valueEnd = endOfMember(text, valueStart);
    members.set(key, text.slice(valueStart, valueEnd).trim());
    if (text[valueEnd] === '}') return members;
    position = valueEnd + 1;
  }
}

/** The position behind the closing quote of the string that opens at `start`. */
function endOfString(text: string, start: number): number {
  let position = start + 1;
  while (text[position] !== '"') position += text[position] === '\\' ? 2 : 1;
  return position + 1;
}

/** The position of the comma or brace that ends the member whose value begins at `start`. */
function endOfMember(text: string, start: number): number {
  let depth = 0;
  for (let position = start; ; ) {
    const character = text[position];
    if (character === '"') {
      position = endOfString(text, position);
      continue;
    }
    if (depth === 0 && (character === ',' || character === '}')) return position;
    if (character === '{' || character === '[') depth++;
    if (character === '}' || character === ']') depth--;
    position++;
  }
}
