import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

let directory: string;
const running: ChildProcess[] = [];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'plant-store-lock-'));
});
afterEach(async () => {
  for (const child of running.splice(0)) await kill(child);
  rmSync(directory, { recursive: true });
});

async function kill(child: ChildProcess): Promise<void> {
  const gone = once(child, 'exit');
  if (child.exitCode === null && child.signalCode === null) {
    child.kill('SIGKILL');
    await gone;
  }
}

/** A process that tries to lock when it is told to, says whether it succeeded, and lives on. */
async function contender() {
  const source = `
    import { lockUntilExit } from './start-lock.ts';
    process.once('message', () => process.send(lockUntilExit(${JSON.stringify(join(directory, 'lock'))})));
    setInterval(() => {}, 1_000);
    process.send('ready');`;
  const child = spawn(process.execPath, ['--input-type=module-typescript', '--eval', source], {
    cwd: import.meta.dirname,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  running.push(child);
  await once(child, 'message');
  const locks = async () => {
    const answer = once(child, 'message');
    child.send('lock');
    return (await answer)[0] as boolean;
  };
  return { child, locks };
}

test('of several processes that try at once exactly one gets the lock, also when its holder was killed', async () => {
  for (let round = 1; round <= 3; round++) {
    const contenders = await Promise.all(Array.from({ length: 4 }, contender));
    const results = await Promise.all(contenders.map(({ locks }) => locks()));
    expect(results.filter((locked) => locked)).toHaveLength(1);
    for (const { child } of contenders) await kill(child);
  }
});

test('a lock is held until its process ends, and then free at once', async () => {
  const first = await contender();
  const second = await contender();
  const third = await contender();
  expect(await first.locks()).toBe(true);
  expect(await second.locks()).toBe(false);
  await kill(first.child);
  expect(await third.locks()).toBe(true);
});
