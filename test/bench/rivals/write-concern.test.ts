import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Document } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { waitFor } from '../../harness/wait-for.ts';
import { runLoad } from '../load/run-load.ts';
import { type Ground, prepareGround } from '../systems/ground.ts';
import { startSystem, systems } from '../systems/systems.ts';

const folder = mkdtempSync(join(tmpdir(), 'bench-'));
let ground: Ground;
beforeAll(async () => {
  ground = await prepareGround(folder, () => {});
});
afterAll(() => ground.close());

test.each(['plain', 'nest', 'express'] as const)(
  '%s stores plants and audit records as durably as ours: majority, journaled',
  async (name) => {
    await ground.empty();
    const system = systems[name];
    const running = await startSystem(system, ground, { folder });
    try {
      await ground.database.command({ profile: 2 });
      await runLoad({ url: running.url, token: ground.token, connections: 1, seconds: 0.2, firstId: 1 });
      const records = ground.database.collection('audit_records');
      await waitFor(
        async () =>
          (await records.countDocuments()) > 0 && (await system.books?.isPending(ground.database)) !== true,
        { withinMs: 30_000, what: 'what was stored is audited' },
      );
      await ground.database.command({ profile: 0 });
      const inserts = await ground.database.collection('system.profile').find({ op: 'insert' }).toArray();
      const concerns = (of: string) =>
        inserts
          .filter(({ ns }) => ns === `bench.${of}`)
          .map(({ command }) => (command as Document)['writeConcern']);
      for (const collection of ['plants', 'audit_records']) {
        const found = concerns(collection);
        expect(found.length, collection).toBeGreaterThan(0);
        expect(new Set(found.map((concern) => JSON.stringify(concern)))).toEqual(
          new Set([JSON.stringify({ w: 'majority', j: true })]),
        );
      }
    } finally {
      await running.stop();
    }
  },
);
