import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { port, str } from 'envalid';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { boundedText, networks, readEnvironment, wholeNumber } from './configuration.ts';

const settings = {
  NAME: str(),
  PORT: port({ default: 3000 }),
  PARTS: networks({ default: [] }),
  SIZE: wholeNumber(1, 9)({ default: 5 }),
};

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'configuration-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

test('reads, defaults and converts', () => {
  expect(readEnvironment({ NAME: 'n', PARTS: ' ::1, 10.0.0.1,', SIZE: '' }, settings)).toMatchObject({
    NAME: 'n',
    PORT: 3000,
    PARTS: ['::1', '10.0.0.1'],
    SIZE: 5,
  });
});

test('names every fault in one message', () => {
  expect(() => readEnvironment({ PORT: 'x', SIZE: '10' }, settings)).toThrow(
    /^configuration: (?=.*NAME is required)(?=.*PORT: )(?=.*SIZE: must be a whole number from 1 to 9)/,
  );
});

test('names contradictions between variables', () => {
  expect(() => readEnvironment({ NAME: 'n' }, settings, ({ NAME }) => [`${NAME} contradicts`])).toThrow(
    'n contradicts',
  );
});

test('names contradictions beside faults, unless they involve a variable at fault', () => {
  expect(() => readEnvironment({ SIZE: '10' }, settings, () => ['two of them'])).toThrow(
    /^configuration: (?=.*NAME is required)(?=.*SIZE)(?=.*two of them)/,
  );
  expect(() => readEnvironment({}, settings, ({ NAME }) => [`${NAME} contradicts`])).toThrow(
    /^configuration: NAME is required$/,
  );
});

test('takes addresses and networks, and names what is neither', () => {
  const spec = { PROXIES: networks({ default: [] }) };
  expect(readEnvironment({ PROXIES: '127.0.0.1, 10.0.0.0/8,::1,fc00::/7' }, spec).PROXIES).toHaveLength(4);
  for (const wrong of ['gateway', '10.0.0.0/33', '10.0.0/8', '::/129', '1.2.3.4/8/8', '1.2.3.4/']) {
    expect(() => readEnvironment({ PROXIES: `::1,${wrong}` }, spec)).toThrow(`PROXIES: ${wrong} must be`);
  }
});

test('takes text up to its bound, and none with bytes that a log cannot show', () => {
  const spec = { LABEL: boundedText(3)({ default: 'x' }) };
  expect(readEnvironment({ LABEL: 'a 1' }, spec).LABEL).toBe('a 1');
  for (const wrong of ['long', 'é', 'a\nb']) {
    expect(() => readEnvironment({ LABEL: wrong }, spec)).toThrow('LABEL: must be 1 to 3 printable');
  }
});

test('reads NAME from the file that NAME_FILE names, and refuses both', () => {
  const file = join(folder, 'name');
  writeFileSync(file, 'from a file\n');
  expect(readEnvironment({ NAME_FILE: file }, settings).NAME).toBe('from a file');
  expect(() => readEnvironment({ NAME_FILE: file, NAME: 'n' }, settings)).toThrow(
    /^configuration: NAME and NAME_FILE are both set: keep one$/,
  );
  expect(() => readEnvironment({ NAME_FILE: join(folder, 'none') }, settings)).toThrow(
    'NAME_FILE names a file that cannot',
  );
});
