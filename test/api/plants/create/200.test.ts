import { describe } from 'vitest';
import { apiUnderTest } from '../../../harness/api/api.ts';
import { corpusTests } from '../../corpus/corpus-tests.ts';
import { acceptedKeys } from '../../corpus/idempotency-keys.ts';
import { acceptedIds, zeros } from '../../corpus/ids.ts';
import { acceptedJson } from '../../corpus/json.ts';
import { acceptedMediaTypes } from '../../corpus/media-types.ts';
import { acceptedSizes } from '../../corpus/sizes.ts';
import { acceptedStrings } from '../../corpus/strings.ts';

const api = apiUnderTest();

describe('every spelling of an int64', () => corpusTests(api, [...acceptedIds, ...zeros]));
describe('every Unicode text', () => corpusTests(api, acceptedStrings));
describe('every JSON', () => corpusTests(api, acceptedJson));
describe('JSON in UTF-8, however it is said', () => corpusTests(api, acceptedMediaTypes));
describe('up to 65,536 bytes', () => corpusTests(api, acceptedSizes));
describe('every Idempotency-Key of 1 to 255 visible characters', () => corpusTests(api, acceptedKeys));
