import { expect, test } from 'vitest';
import { refusalOf } from './redis.ts';

const OOM = "OOM command not allowed when used memory > 'maxmemory'.";
const READONLY = "READONLY You can't write against a read only replica.";
/** Redis 6.2.14 puts a script's error into a sentence; Redis 7.0.15 adds the script to it. */
const in6 = (error: string) =>
  `ERR Error running script (call to f_ff967d0a): @user_script:1: @user_script: 1: -${error}`;
const in7 = (error: string) => `${error} script: ff967d0a, on @user_script:1.`;

test.each([
  [OOM, 'full'],
  [in6(OOM), 'full'],
  [in7(OOM), 'full'],
  [READONLY, 'read-only'],
  [in6(READONLY), 'read-only'],
  [in7(READONLY), 'read-only'],
  ['ERR unknown command `OOM`, with args beginning with: ', undefined],
  ['WRONGTYPE Operation against a key holding the wrong kind of value', undefined],
])('an error "%s" is told apart: %s', (message, reason) => {
  expect(refusalOf(new Error(message))).toBe(reason);
});
