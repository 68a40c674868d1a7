/**
 * Writes docs/openapi.json; with `--check` it writes nothing and fails when the file is not what the code says.
 * Usage: npm run openapi [-- --check]
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { openApiDocument } from '../services/api/src/http/openapi/document.ts';

const FILE = resolve(import.meta.dirname, '../docs/openapi.json');

const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });
const document = `${JSON.stringify(openApiDocument(), null, 2)}\n`;

if (!values.check) {
  writeFileSync(FILE, document);
} else if (current() !== document) {
  process.stderr.write(
    'docs/openapi.json is not what the code says: run "npm run openapi" and commit the result\n',
  );
  process.exitCode = 1;
}

function current(): string | undefined {
  try {
    return readFileSync(FILE, 'utf8');
  } catch {
    return undefined;
  }
}
