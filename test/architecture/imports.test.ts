import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');

type Rule = {
  rule: string;
  /** Files the rule binds, as a prefix of their path; tests beside the code are free. */
  files: RegExp;
  /** What they must not import: a path below the root, or a package name. */
  forbidden: (target: string, file: string) => boolean;
  instead: string;
};

const technology = /^(?:fastify|@fastify\/|mongodb|bullmq|ioredis|pino|prom-client|node:)/;

const rules: Rule[] = [
  {
    rule: 'contracts are pure: words both services speak',
    files: /^packages\/contracts\//,
    forbidden: (target) => !target.startsWith('packages/contracts/'),
    instead: 'move the code to packages/platform, or import types alone',
  },
  {
    rule: 'platform has no business word',
    files: /^packages\/platform\//,
    forbidden: (target) => /^(?:services|packages\/(?:audit|contracts|search)|deploy|test)\//.test(target),
    instead: 'hand the word in as a parameter',
  },
  {
    rule: 'the domain knows contracts alone: no framework, driver, logger, clock or platform',
    files: /^services\/[^/]+\/src\/domain\//,
    forbidden: (target, file) =>
      technology.test(target) ||
      (target.includes('/') &&
        !target.startsWith('packages/contracts/') &&
        dirname(target) !== dirname(file)),
    instead: 'declare a port in the domain and implement it in an adapter',
  },
  {
    rule: 'http meets the domain, never an adapter',
    files: /^services\/api\/src\/http\//,
    forbidden: (target) =>
      /^services\/api\/src\/(?:storage|queue)\//.test(target) || /^(?:mongodb|bullmq|ioredis)$/.test(target),
    instead: 'take a finished use case as a plugin option',
  },
  {
    rule: 'adapters do not know HTTP',
    files: /^services\/api\/src\/(?:storage|queue|tokens)\//,
    forbidden: (target) => target.startsWith('services/api/src/http/') || /^@?fastify/.test(target),
    instead: 'return a domain outcome and let http choose the answer',
  },
  {
    rule: 'services never import each other',
    files: /^services\/([^/]+)\//,
    forbidden: (target, file) =>
      target.startsWith('services/') && target.split('/')[1] !== file.split('/')[1],
    instead: 'move the shared word to packages/contracts',
  },
  {
    rule: 'production code imports neither tests nor deployment',
    files: /^(?:packages|services)\//,
    forbidden: (target) => /^(?:test|deploy)\//.test(target),
    instead: 'move what is shared into packages/',
  },
  {
    rule: 'only compose.ts and main.ts put a service together',
    files: /^services\/[^/]+\/src\/(?!(?:compose|main)\.ts)/,
    forbidden: (target) => /\/src\/compose\.ts$/.test(target),
    instead: 'take what you need as a typed parameter',
  },
];

type Import = { file: string; target: string };

/** Imports at run time; `import type` leaves no trace and is free. */
function imports(file: string): Import[] {
  const source = readFileSync(join(root, file), 'utf8');
  return [...source.matchAll(/^(?:import|export)\s(?!type\b)[^;]*?from '([^']+)'|^import '([^']+)'/gm)].map(
    ([, from, bare]) => ({ file, target: locate(file, (from ?? bare) as string) }),
  );
}

/** The path below the root for our own modules, the package's name for others. */
function locate(file: string, specifier: string): string {
  if (specifier.startsWith('.')) return relative(root, resolve(root, dirname(file), specifier));
  const own = /^@plant-store\/(audit|contracts|platform|search)\/(.+)$/.exec(specifier);
  return own === null ? specifier : `packages/${own[1]}/src/${own[2]}.ts`;
}

const sources = globSync('{packages,services}/*/src/**/*.ts', { cwd: root }).filter(
  (file) => !file.endsWith('.test.ts'),
);

test('the sources are found', () => {
  expect(sources.length).toBeGreaterThan(40);
  expect(sources.flatMap(imports).length).toBeGreaterThan(100);
});

test.each(rules)('$rule', ({ rule, files, forbidden, instead }) => {
  const broken = sources
    .filter((file) => files.test(file))
    .flatMap(imports)
    .filter(({ file, target }) => forbidden(target, file))
    .map(({ file, target }) => `${file} imports ${target}. The rule: ${rule}. Instead: ${instead}.`);
  expect(broken).toEqual([]);
});

test('a rule that is broken is reported with what to do instead', () => {
  const domain = rules.find(({ rule }) => rule.startsWith('the domain')) as Rule;
  expect(domain.forbidden('mongodb', 'services/api/src/domain/creation.ts')).toBe(true);
  expect(domain.forbidden('services/api/src/storage/x.ts', 'services/api/src/domain/creation.ts')).toBe(true);
  expect(
    domain.forbidden('services/api/src/domain/recent-ids.ts', 'services/api/src/domain/creation.ts'),
  ).toBe(false);
  const services = rules.find(({ rule }) => rule.startsWith('services never')) as Rule;
  expect(services.forbidden('services/worker/src/events.ts', 'services/api/src/events.ts')).toBe(true);
});
