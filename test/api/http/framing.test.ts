import { describe } from 'vitest';
import { apiUnderTest } from '../../harness/api/api.ts';
import { corpusTests } from '../corpus/corpus-tests.ts';
import { acceptedFraming, refusedFraming } from '../corpus/framing.ts';

const api = apiUnderTest();

describe('requests that HTTP allows', () => corpusTests(api, acceptedFraming));
describe('1007: requests that are malformed, or that two servers could read differently', () =>
  corpusTests(api, refusedFraming));
