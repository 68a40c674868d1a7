import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { ICruiseResult, IForbiddenRuleType } from 'dependency-cruiser';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const configuration: { default: { forbidden: IForbiddenRuleType[] } } = await import(
  join(root, '.dependency-cruiser.js')
);
const rules = configuration.default.forbidden;

/** For each rule an import that breaks it, first, and the other files it takes. */
const offences: Record<string, Record<string, string>> = {
  'no cycles': {
    'packages/search/src/a.ts': "import type { B } from './b.ts'; export type A = B;",
    'packages/search/src/b.ts': "import type { A } from './a.ts'; export type B = A | 1;",
  },
  'contracts are pure: the words all services speak': {
    'packages/contracts/src/a.ts': "export * from '../../platform/src/a.ts';",
  },
  'platform has no business word': {
    'packages/platform/src/a.ts': "export * from '../../contracts/src/b.ts';",
    'packages/contracts/src/b.ts': 'export const b = 1;',
  },
  'the pure parts of audit and search know no database, queue, framework, logger or clock': {
    'packages/audit/src/ledger/a.ts': "export * from '../mongo/mongo-blocks.ts';",
    'packages/audit/src/mongo/mongo-blocks.ts': 'export const b = 1;',
  },
  'a domain imports contracts alone': {
    'services/api/src/domain/a.ts': "export const a = () => import('../storage/mongo-plants.ts');",
    'services/api/src/storage/mongo-plants.ts': 'export const b = 1;',
  },
  'http, jobs, status and pages meet a use case, never an adapter': {
    'services/worker/src/jobs/a.ts': "export * from './mongo-pending.ts';",
    'services/worker/src/jobs/mongo-pending.ts': 'export const b = 1;',
  },
  'adapters do not know HTTP': {
    'services/api/src/queue/a.ts': "export * from '../http/app.ts';",
    'services/api/src/http/app.ts': 'export const b = 1;',
  },
  'services never import each other': {
    'services/ops/src/a.ts': "import type { B } from '../../worker/src/b.ts'; export type A = B;",
    'services/worker/src/b.ts': 'export type B = 1;',
  },
  'production code imports neither tests nor deployment nor scripts': {
    'services/ops/src/local.ts': "export * from '../../../deploy/local/ports.ts';",
    'deploy/local/ports.ts': 'export const b = 1;',
  },
  'only main.ts composes a service': {
    'services/ops/src/events.ts': "async function start() { await using b = await import('./compose.ts'); }",
    'services/ops/src/compose.ts': 'export const b = 1;',
  },
  'every import is found': {
    'services/ops/src/missing.ts': "export * from 'no-such-package';",
  },
};

let reported: Map<string, string[]>;
beforeAll(async () => {
  const tree = mkdtempSync(join(tmpdir(), 'imports-'));
  afterAll(() => rmSync(tree, { recursive: true }));
  for (const [file, source] of Object.values(offences).flatMap((files) => Object.entries(files))) {
    mkdirSync(dirname(join(tree, file)), { recursive: true });
    writeFileSync(join(tree, file), source);
  }
  reported = await violations(tree);
});

test('every rule has an offence that shows it', () => {
  expect(Object.keys(offences)).toEqual(rules.map(({ name }) => name));
});

test.each(Object.keys(offences))('“%s”: an import that breaks it is reported', (rule) => {
  expect(reported.get(rule)).toContain(Object.keys(offences[rule] ?? {})[0]);
});

test.each(rules)('“$name” says what to do instead', ({ comment }) => {
  expect(comment).toMatch(/\w+ \w+/);
});

/** The files that break each rule, as `npm run check` finds them. */
async function violations(tree: string): Promise<Map<string, string[]>> {
  const program = join(root, 'node_modules/.bin/depcruise');
  const config = join(root, '.dependency-cruiser.js');
  const args = [program, '--config', config, '--output-type', 'json', 'packages', 'services', 'deploy'];
  const { promise, resolve: done } = Promise.withResolvers<string>();
  // Violations are its exit code, so that is no failure here.
  execFile(process.execPath, args, { cwd: tree }, (_error, stdout) => done(stdout));
  const { summary } = JSON.parse(await promise) as ICruiseResult;
  const files = new Map<string, string[]>();
  for (const { rule, from } of summary.violations)
    files.set(rule.name, [...(files.get(rule.name) ?? []), from]);
  return files;
}
