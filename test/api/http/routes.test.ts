import { describe } from 'vitest';
import { apiUnderTest } from '../../harness/api/api.ts';
import { corpusTests } from '../corpus/corpus-tests.ts';
import { acceptedTargets, unknownPaths, wrongMethods } from '../corpus/routes.ts';

const api = apiUnderTest();

describe('200: the one path, however it is spelt', () => corpusTests(api, acceptedTargets));
describe('3000: nothing else is there', () => corpusTests(api, unknownPaths));
describe('3001: it takes POST alone', () => corpusTests(api, wrongMethods));
