import { describe, expect, test } from 'vitest';
import { apiUnderTest } from '../../../harness/api/api.ts';
import { exchange } from '../../../harness/network/raw-http.ts';
import { render } from '../../corpus/case.ts';
import { corpusTests } from '../../corpus/corpus-tests.ts';
import { refusedKeys } from '../../corpus/idempotency-keys.ts';
import { refusedIds } from '../../corpus/ids.ts';
import { refusedJson } from '../../corpus/json.ts';
import { refusedMediaTypes } from '../../corpus/media-types.ts';
import { refusedSizes } from '../../corpus/sizes.ts';
import { refusedStrings } from '../../corpus/strings.ts';

const api = apiUnderTest();

describe('1000: the body is not JSON', () => corpusTests(api, refusedJson));
describe('1001: an id that is no int64', () => corpusTests(api, refusedIds));
describe('1001: fields of another type, or text that is none', () => corpusTests(api, refusedStrings));
describe('1003: another media type, charset or coding', () => corpusTests(api, refusedMediaTypes));
describe('1004: over 65,536 bytes', () => corpusTests(api, refusedSizes));
describe('1005: a malformed Idempotency-Key', () => corpusTests(api, refusedKeys));

test('nothing that was refused is stored', async () => {
  const before = await api.plants.countDocuments();
  const cases = [refusedJson, refusedIds, refusedStrings, refusedMediaTypes, refusedSizes, refusedKeys];
  for (const subject of cases.flat()) expect((await exchange(api.url, render(subject))).status).toBe(400);
  expect(await api.plants.countDocuments()).toBe(before);
});
