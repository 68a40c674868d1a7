import { describe } from 'vitest';
import { apiUnderTest } from '../../../harness/api/api.ts';
import { acceptedTokens, missingTokens, rejectedTokens } from '../../corpus/access-tokens.ts';
import { corpusTests } from '../../corpus/corpus-tests.ts';

const api = apiUnderTest({ AUTH_CLOCK_TOLERANCE_S: '0' });

describe('200: good tokens', () => corpusTests(api, acceptedTokens));
describe('2000: no bearer token', () => corpusTests(api, missingTokens));
describe('2001: a token that is rejected, in the same words whatever the reason', () =>
  corpusTests(api, rejectedTokens));
