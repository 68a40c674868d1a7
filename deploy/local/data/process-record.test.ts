import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findOnPath } from '../servers/binaries/search-path.ts';
import { freePort, listenFailure } from '../servers/free-port.ts';
import { endRecordedProcesses, readRecord, recordProcesses } from './process-record.ts';
import { fromPs, processTable } from './process-table.ts';

let directory: string;
let record: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'plant-store-record-'));
  record = join(directory, 'processes.json');
});
afterEach(() => rmSync(directory, { recursive: true }));

/** What keeps threads busy: a process that is killed ends with the last one. */
const BUSY = `for (let threads = 0; threads < 3; threads++)
  require('node:crypto').scrypt('a', 'b', 32, { N: 2 ** 15, r: 8, p: 100, maxmem: 2 ** 30 }, () => {});`;

/** A process group whose leader and whose other member listen on a port each and ignore SIGTERM. */
async function group() {
  const ports = [await freePort(), await freePort()];
  const listen = (port: number | undefined) =>
    `${BUSY} process.on('SIGTERM', () => {}); require('node:net').createServer().listen(${port}, '127.0.0.1', () => process.send('listens'));`;
  const leader = `
    const member = require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(listen(ports[1]))}], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    member.once('message', () => { ${listen(ports[0])} });`;
  const child = spawn(process.execPath, ['-e', leader], {
    detached: true,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  await once(child, 'message');
  return { pid: child.pid as number, ports, gone: once(child, 'exit') };
}

test('what was recorded is gone when it has been ended: its ports are free at once', {
  repeats: 9,
}, async () => {
  const left = [await group(), await group()];
  recordProcesses(
    record,
    left.map(({ pid }) => pid),
  );
  expect(await endRecordedProcesses(record)).toBe(2);
  for (const port of left.flatMap(({ ports }) => ports)) {
    expect([port, await listenFailure('127.0.0.1', port)]).toEqual([port, undefined]);
  }
  await Promise.all(left.map(({ gone }) => gone));
  expect(await endRecordedProcesses(record)).toBe(0);
});

test('a process that has the pid of a recorded one but started at another time is left alone', async () => {
  const other = await group();
  recordProcesses(record, [other.pid]);
  const { children } = readRecord(record);
  rmSync(record);
  expect(children).toEqual([{ pid: other.pid, since: expect.any(String) }]);
  const stale = JSON.stringify({ start: 1, children: [{ pid: other.pid, since: 'another time' }] });
  writeFileSync(record, stale);
  expect(await endRecordedProcesses(record)).toBe(0);

  recordProcesses(record, [other.pid]);
  expect(await endRecordedProcesses(record)).toBe(1);
  await other.gone;
});

test('no record, or one that cannot be read, names nothing', async () => {
  expect(await endRecordedProcesses(record)).toBe(0);
  writeFileSync(record, '{"start":');
  expect(await endRecordedProcesses(record)).toBe(0);
});

test.runIf(findOnPath('ps') !== undefined)('ps and /proc name the same processes', () => {
  const own = processTable().find(({ pid }) => pid === process.pid);
  const sameByPs = fromPs().find(({ pid }) => pid === process.pid);
  expect(sameByPs).toMatchObject({ pid: process.pid, group: own?.group });
  expect(sameByPs?.since).toMatch(/\d\d:\d\d:\d\d/);
});
