import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Ground, prepareGround } from '../systems/ground.ts';
import { besideCommand } from './beside.ts';
import type { CommandFigure } from './commands.ts';
import { ledgerTables } from './ledger-table.ts';
import { measureLedger } from './measure-ledger.ts';

const folder = mkdtempSync(join(tmpdir(), 'bench-'));
let ground: Ground;
beforeAll(async () => {
  ground = await prepareGround(folder, () => {});
});
afterAll(async () => {
  await ground.close();
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
});

test('a store is filled, and every search and command on it is measured', async () => {
  const extent = { plants: 2_000, asked: 1, stretches: 1, stretchSeconds: 1 };
  const results = await measureLedger({ ground, folder, say: () => {} }, extent);
  for (const { kind, plans, plants, timedOut } of results.searches) {
    expect({ kind, plans }).toEqual({
      kind,
      plans: expect.not.arrayContaining([expect.stringContaining('COLLSCAN')]),
    });
    expect({ kind, plans: plans.length, timedOut }).toEqual({
      kind,
      plans: expect.toSatisfy(positive),
      timedOut: false,
    });
    expect({ kind, plants }).toEqual({
      kind,
      plants: / no plant has/.test(kind) ? 0 : expect.toSatisfy(positive),
    });
  }
  for (const { exitCode, seconds, memoryBytesMax, cpuSeconds } of [
    results.verify,
    results.reconcile,
    results.beside?.reindex as CommandFigure,
  ]) {
    expect(exitCode).toBe(0);
    for (const figure of [seconds, memoryBytesMax, cpuSeconds.command]) expect(figure).toBeGreaterThan(0);
  }
  expect(results.verify.answer).toContain('verified: 2,000 entries');
  expect(ledgerTables([results])).toContain('### 2,000 plants');
});

test('creates beside a command that fails are not measured', async () => {
  const unending = () => new Promise<never>(() => {});
  await expect(besideCommand(ground, ['no-command'], unending)).rejects.toThrow('no-command ended with 2');
});

const positive = (figure: number) => figure > 0;
