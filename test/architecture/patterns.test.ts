import { describe, expect, test } from 'vitest';
import { patternsIn, unsafePatterns } from '../../scripts/patterns.ts';

const TIMEOUT_MS = 60_000;

describe('regular expressions that an input can make slow', { timeout: TIMEOUT_MS }, () => {
  test.each([
    [
      'white space that two parts of a pattern may take',
      String.raw`/^application\/json\s*(?:;\s*charset\s*=\s*(?:utf-8|"utf-8")\s*)?;?\s*$/i.test(type);`,
      /2nd degree polynomial/,
    ],
    ['a repetition of a repetition', 'const words = /^(\\w+\\s?)*$/;', /exponential/],
    ['a schema of JSON', "const schema = { type: 'string', pattern: '^(a+)+$' };", /exponential/],
    ['a schema of JSON whose pattern stands elsewhere', 'const schema = { "pattern": NAME };', /at run time/],
    ['what is put together at run time', "const one = new RegExp('^' + name);", /at run time/],
  ])('are found: %s', async (_case, source, problem) => {
    const findings = await unsafePatterns('example.ts', `const type = '', name = '';\n${source}\n`);
    expect(findings).toEqual([
      { line: 2, text: expect.any(String), problem: expect.stringMatching(problem) },
    ]);
  });

  test('are not found where a comment on the same line or the line before gives a reason', async () => {
    const slow = '/(a+)+$/';
    const source = [
      '// pattern-check: reads our own page',
      `const before = ${slow};`,
      `const same = ${slow}; // pattern-check: reads our own page`,
      '',
      '// pattern-check:',
      `const withoutReason = ${slow};`,
      '// pattern-check: too far away',
      '',
      `const after = ${slow};`,
    ].join('\n');
    const findings = await unsafePatterns('example.ts', source);
    expect(findings.map(({ line }) => line)).toEqual([6, 9]);
  });

  test('are found in the configuration of nginx', async () => {
    const template = [
      'map $http_a $b {',
      '  "~^[a-z]+$" 1;',
      '  "~^(a+)+$" 1;',
      '  ~*^(a+)+$ 1;',
      '}',
      'if ($c !~* "^(b*)*$") {',
      'location ~ ^/x*x*x*$ {',
      'map $d $e { "~^f$" 1; "~^(g+)+$" 2; }',
      '# location ~ ^/(h+)+$ {',
    ].join('\n');
    const findings = await unsafePatterns('nginx.conf.template', template);
    expect(findings.map(({ line }) => line)).toEqual([3, 4, 6, 7, 8]);
  });

  test('linear ones pass', async () => {
    expect(await unsafePatterns('example.ts', 'const version = /v(\\d+)\\.(\\d+)$/;')).toEqual([]);
  });

  test('every literal of a file is seen, wherever it stands', () => {
    const source = 'f(/a/g); class C { static p = /b/; m = () => s.replace(/c/i, ""); }';
    expect(patternsIn('example.ts', source).map(({ text }) => text)).toEqual(['/a/g', '/b/', '/c/i']);
  });
});
