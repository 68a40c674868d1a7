import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Ground, prepareGround } from '../systems/ground.ts';
import { type SystemName, systems } from '../systems/systems.ts';
import { measureRound, type Round, type RoundOptions, VoidRound, voidReason } from './round.ts';

const folder = mkdtempSync(join(tmpdir(), 'bench-'));
let ground: Ground;
beforeAll(async () => {
  ground = await prepareGround(folder, () => {});
});
afterAll(() => ground.close());

const ATTEMPTS_MAX = 5;
const short = { connections: 4, seconds: 0.5, warmUpSeconds: 0.1 };

test.each<SystemName>(['ours', 'plain', 'nest', 'express'])(
  '%s stores, indexes and audits every plant, and its CPU is counted',
  async (name) => {
    const round = await measureRound(systems[name], ground, folder, short);
    expect(round.stored).toBe(round.created);
    expect(round.cpu).toMatchObject({ api: expect.any(Number), worker: expect.any(Number) });
    expect(round.cpuUsPerPlant).toBeGreaterThan(0);
    expect(round.totalSeconds).toBeGreaterThan(0.4);
  },
);

test('the floor answers without a database', async () => {
  const { created, cpu } = await measureRound(systems.floor, ground, folder, short);
  expect(created).toBeGreaterThan(0);
  expect(cpu.api).toBeGreaterThan(0);
  expect(await ground.database.collection('plants').countDocuments()).toBe(0);
});

test('creates go on while Redis is down, and Redis is there for the next round', {
  timeout: 60_000,
}, async () => {
  await measureRound(systems.ours, ground, folder, { ...short, withoutRedis: true });
  await expect(ground.versions()).resolves.toMatchObject({ redis: expect.stringMatching(/^\d/) });
});

test('the lag is measured from the 200 until a plant is processed', async () => {
  const { lagMs } = await offeredRound({ ...short, rate: 50, probes: true });
  expect(lagMs?.plants).toBeGreaterThan(5);
  expect(lagMs?.p99).toBeGreaterThan(0);
});

/** A round whose rate a busy machine did not offer is void: it is measured anew. */
async function offeredRound(options: RoundOptions): Promise<Round> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await measureRound(systems.ours, ground, folder, options);
    } catch (error) {
      const isLateLoad = error instanceof VoidRound && error.message.includes('offered');
      if (!isLateLoad || attempt === ATTEMPTS_MAX) throw error;
    }
  }
}

describe('a round is void', () => {
  const report = {
    ...{ created: 100, repeated: 0, refused: 0, broken: 0, startedMs: 0, answeredMs: 1, seconds: 1 },
    ...{ p50Ms: 1, p99Ms: 1, cpuMs: 1 },
  };
  const counts = { stored: 100, indexed: 100, audited: 100 };

  test('not when everything adds up', () => {
    expect(voidReason(report, 100, counts)).toBeUndefined();
    expect(voidReason({ ...report, refused: 10, repeated: 10 }, 100, counts)).toBeUndefined();
  });
  test.each([
    ['an answer that never came', { broken: 1 }, 100],
    ['an answer that is no 200', { refused: 1 }, 100],
    ['a repeated id that was accepted', { repeated: 1 }, 100],
    ['a plant that is stored and was not answered with 200', {}, 101],
    ['a 200 whose plant is not stored', {}, 99],
    ['an open loop that was not offered its rate', { offered: 0.98 }, 100],
  ])('with %s', (_name, change, stored) => {
    expect(voidReason({ ...report, ...change }, stored, counts)).toEqual(expect.any(String));
  });
  test.each(['indexed', 'audited'] as const)('with a plant that is not %s', (step) => {
    expect(voidReason(report, 100, { ...counts, [step]: 99 })).toContain('99');
  });
});
