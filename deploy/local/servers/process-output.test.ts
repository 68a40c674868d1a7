import { expect, test } from 'vitest';
import { ProcessOutput } from './process-output.ts';

test.each([
  [
    'mongod: its first error',
    [
      '{"t":{"$date":"2026-01-01"},"s":"I","c":"CONTROL","msg":"MongoDB starting"}',
      '{"t":{"$date":"2026-01-01"},"s":"E","c":"CONTROL","msg":"Error setting up listener","attr":{"error":{"code":9001,"codeName":"SocketException","errmsg":"Address already in use"}}}',
      '{"t":{"$date":"2026-01-01"},"s":"F","c":"CONTROL","msg":"later","attr":{"error":"Interrupted"}}',
    ],
    'Address already in use',
  ],
  [
    'mongod: what its storage engine says',
    [
      '{"t":{"$date":"2026-01-01"},"s":"E","c":"WT","msg":"WiredTiger error message","attr":{"error":28,"message":{"category":"WT_VERB_DEFAULT","msg":"WiredTiger.lock: No space left on device"}}}',
      '{"t":{"$date":"2026-01-01"},"s":"F","c":"STORAGE","msg":"Terminating.","attr":{"reason":"28: No space left on device"}}',
      '{"t":{"$date":"2026-01-01"},"s":"F","c":"ASSERT","msg":"\\n\\n***aborting after fassert() failure\\n\\n"}',
    ],
    'WiredTiger.lock: No space left on device',
  ],
  [
    'mongod: an error without a cause',
    [
      '{"t":{"$date":"2026-01-01"},"s":"F","c":"ASSERT","msg":"Fatal assertion","attr":{"msgid":28595,"line":637}}',
      '{"t":{"$date":"2026-01-01"},"s":"F","c":"ASSERT","msg":"\\n\\n***aborting after fassert() failure\\n\\n"}',
    ],
    'Fatal assertion {"msgid":28595,"line":637}',
  ],
  ['mongod: a line that was cut', ['{"t":{"$date":"2026'], '{"t":{"$date":"2026'],
  [
    'Redis: its last warning',
    [
      '77:C 21 Nov 2026 05:00:00.000 # oO0OoO0OoO0Oo Redis is starting oO0OoO0OoO0Oo',
      '77:M 21 Nov 2026 05:00:00.001 # Could not create server TCP listening socket 127.0.0.1:1: bind: Permission denied',
      '77:M 21 Nov 2026 05:00:00.002 * bye',
    ],
    'Could not create server TCP listening socket 127.0.0.1:1: bind: Permission denied',
  ],
  [
    'a service that threw: the error, not its stack',
    [
      '{"level":30,"msg":"x"}',
      'api: Error: listen EADDRNOTAVAIL: 10.0.0.1',
      '    at Server.listen (node:net:1)',
      '',
    ],
    'api: Error: listen EADDRNOTAVAIL: 10.0.0.1',
  ],
  [
    'a service with settings it cannot use',
    ['{"level":30}', 'api: configuration: PORT: no'],
    'api: configuration: PORT: no',
  ],
  ['no output', [], 'it wrote nothing'],
])('%s', (_case, lines, reason) => {
  const output = new ProcessOutput();
  for (const line of lines) output.add(Buffer.from(`${line}\n`));
  expect(output.reason()).toBe(reason);
});

test('a line that arrives in pieces is one line, and a line without an end counts', () => {
  const output = new ProcessOutput();
  for (const piece of ['nginx: [emerg] ', 'bind() failed', '\nstill', ' failing'])
    output.add(Buffer.from(piece));
  expect(output.reason()).toBe('still failing');
});
