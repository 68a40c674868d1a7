import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

type Manifest = {
  name: string;
  version: string;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  overrides?: Record<string, string>;
};

const root = resolve(import.meta.dirname, '../..');
const read = (file: string) => JSON.parse(readFileSync(join(root, file), 'utf8')) as Manifest;
const rootManifest = read('package.json');
const workspaces = ['packages/*', 'services/*', 'deploy/*', 'test', 'test/*']
  .flatMap((pattern) => globSync(`${pattern}/package.json`, { cwd: root }))
  .map(read);

/** Every declaration: who declares what in which version. */
const declared = [rootManifest, ...workspaces].flatMap(
  ({ name: by, dependencies, devDependencies, optionalDependencies }) =>
    Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies }).map(
      ([name, version]) => ({
        by,
        name,
        version,
      }),
    ),
);
const external = declared.filter(({ name }) => !name.startsWith('@plant-store/'));

const page = readFileSync(join(root, 'docs/dependencies.md'), 'utf8');
const [tables = '', overrides = ''] = page.split('## Overrides');
/** The names in the first cell of each row. */
const named = (text: string) =>
  [...text.matchAll(/^\| `[^|]+\|/gm)].flatMap(([cell]) =>
    [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name),
  );

test('every version is exact, and a package has one version in all workspaces', () => {
  expect(external.length).toBeGreaterThan(60);
  expect(external.filter(({ version }) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
  const versions = Map.groupBy(external, ({ name }) => name);
  const several = [...versions].filter(([, uses]) => new Set(uses.map(({ version }) => version)).size > 1);
  expect(several).toEqual([]);
});

test('our own packages are declared in the version that they have', () => {
  const own = declared.filter(({ name }) => name.startsWith('@plant-store/'));
  expect(own.length).toBeGreaterThan(10);
  expect(
    own.filter(({ name, version }) => workspaces.find((one) => one.name === name)?.version !== version),
  ).toEqual([]);
});

test('docs/dependencies.md says what each dependency is for, and names no other', () => {
  expect(new Set(named(tables))).toEqual(new Set(external.map(({ name }) => name)));
});

test('docs/dependencies.md says when each override goes', () => {
  const rows = Object.entries(rootManifest.overrides ?? {}).map(
    ([name, version]) => new RegExp(`^\\| \`${name}\` \\| \`${version}\` \\| [^|]+ \\| [^|]+ \\|$`, 'm'),
  );
  expect(rows.filter((row) => !row.test(overrides))).toEqual([]);
  expect(named(overrides)).toEqual(Object.keys(rootManifest.overrides ?? {}));
});

test('npm runs no install script of a package, and the images are built with that setting', () => {
  expect(readFileSync(join(root, '.npmrc'), 'utf8')).toMatch(/^ignore-scripts=true$/m);
  expect(readFileSync(join(root, '.dockerignore'), 'utf8')).toMatch(/^!\.npmrc$/m);
  const dockerfile = readFileSync(join(root, 'deploy/docker/Dockerfile'), 'utf8');
  expect(dockerfile).toContain('COPY package.json package-lock.json .npmrc ./\n');
});

test('every machine that is given a Node is given Node 24', () => {
  const versions = Object.entries(rootManifest.optionalDependencies ?? {}).filter(([name]) =>
    name.startsWith('node-'),
  );
  expect(versions.length).toBeGreaterThan(1);
  expect(versions.filter(([, version]) => !version.startsWith('24.'))).toEqual([]);
});
