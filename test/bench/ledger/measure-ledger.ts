import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateAnchorKey } from '@plant-store/audit/ledger/anchor-keys';
import { createMongoClient } from '@plant-store/platform/mongo/mongo';
import { provePlant } from '../../../services/ops/src/audit/prove.ts';
import { plantStory } from '../../../services/ops/src/plants/plant-story.ts';
import { currentCommit, describeMachine, type Machine } from '../measure/machine.ts';
import type { Bench } from '../measure/measure.ts';
import { percentile } from '../measure/statistics.ts';
import { ourBooks } from '../systems/books.ts';
import { startSystem, systems } from '../systems/systems.ts';
import { type CreateFigure, type Creates, copied, offerCreates, startReindex } from './beside.ts';
import { type CommandFigure, runCommand, startCommand } from './commands.ts';
import { fill } from './fill.ts';
import { questions } from './questions.ts';
import { measureSearches, type SearchFigure } from './searches.ts';

/** Creates a second, beside which commands and searches are measured. */
const RATE = 500;
const CONNECTIONS = 64;
const FILL_STEP = 100_000;
const WARM_UP_SECONDS = 5;

export type LedgerExtent = {
  plants: number;
  /** Times that each question is asked. */
  asked: number;
  /** Stretches of creates beside each command, each next to one without. */
  stretches: number;
  stretchSeconds: number;
};

export type Beside = { usual: CreateFigure[]; beside: CreateFigure[] };

export type LedgerResults = {
  date: string;
  commit: string;
  machine: Machine;
  plants: number;
  fillSeconds: number;
  searches: SearchFigure[];
  searchesUnderLoad: SearchFigure[];
  story: { p50Ms: number; maxMs: number };
  proof: { p50Ms: number; maxMs: number };
  verify: CommandFigure;
  reconcile: CommandFigure;
  reindex: CommandFigure & {
    /** Plants that it had copied when it was killed the last time, and when the next one began to copy. */
    killedAt: number;
    resumedAt: number;
  };
  creates: { rate: number } & Record<'reindex' | 'verify' | 'reconcile', Beside>;
};

/** Fills a store, and measures what is asked of its index and its audit log. */
export async function measureLedger(
  { ground, folder, say }: Bench,
  extent: LedgerExtent,
): Promise<LedgerResults> {
  const { plants } = extent;
  await ground.empty();
  const { privateKey, publicKey } = generateAnchorKey();
  const key = join(folder, 'anchor-key.pub.pem');
  writeFileSync(key, publicKey);
  const settings = { AUDIT_ANCHOR_KEY: privateKey, AUDIT_ANCHOR_INTERVAL_MS: '1000' };
  const machine = await describeMachine(ground);
  const running = await startSystem(systems.ours, ground, { folder, settings });
  const client = createMongoClient(ground.environment.MONGODB_URL, 'bench', { socketTimeoutMS: 120_000 });
  try {
    const started = performance.now();
    for (let from = 0; from < plants; from += FILL_STEP) {
      await fill(ground, from, Math.min(plants, from + FILL_STEP));
      say(`${Math.min(plants, from + FILL_STEP)} plants stored, indexed and audited`);
    }
    const fillSeconds = (performance.now() - started) / 1_000;
    const { stored, indexed, audited } = await ourBooks.counts(ground.database);
    if (stored !== plants || indexed !== plants || audited !== plants)
      throw new Error(`${stored} plants, ${indexed} indexed, ${audited} audited`);

    const database = client.db();
    const asked = await questions(database, plants);
    const searches = await measureSearches(database, asked, extent.asked);
    const story = await lookUps(extent, (id) => plantStory(database, id));
    const proof = await lookUps(extent, (id) => provePlant(database, id));
    say('searches, stories and proofs are measured');

    const verify = told(say, 'audit verify', await runCommand(ground, ['audit', 'verify', '--key', key]));
    const offered: Creates = {
      url: running.url,
      rate: RATE,
      seconds: extent.stretchSeconds,
      connections: CONNECTIONS,
    };
    await offerCreates(ground, { ...offered, seconds: WARM_UP_SECONDS });
    const [searchesUnderLoad] = await Promise.all([
      measureSearches(database, asked, 3),
      offerCreates(ground, offered),
    ]);
    say('searches under load are measured');

    const resumed = { killedAt: 0, resumedAt: 0 };
    const besideReindex = await besides(
      extent,
      () => offerCreates(ground, offered),
      async () => {
        const { child, copiedBefore } = await startReindex(ground);
        resumed.resumedAt = copiedBefore;
        return async () => {
          child.kill('SIGKILL');
          await child.gone;
          resumed.killedAt = await copied(ground);
        };
      },
    );
    say(`creates beside reindex are measured; it was killed at ${resumed.killedAt} plants`);
    const reindex = told(say, 'reindex', await runCommand(ground, ['reindex', '--rate', '1000000']));
    const reconcile = told(say, 'reconcile', await runCommand(ground, ['reconcile']));
    const besideCommand = (...args: string[]) =>
      besides(
        extent,
        () => offerCreates(ground, offered),
        async () => {
          const child = startCommand(ground, args);
          child.stdout.resume();
          return async () => {
            child.kill('SIGTERM');
            await child.gone;
          };
        },
      );
    const creates = {
      rate: RATE,
      reindex: besideReindex,
      verify: await besideCommand('audit', 'verify', '--key', key),
      reconcile: await besideCommand('reconcile'),
    };
    return {
      date: new Date().toISOString(),
      commit: currentCommit(),
      ...{ machine, plants, fillSeconds, searches, searchesUnderLoad, story, proof, verify, reconcile },
      reindex: { ...reindex, ...resumed },
      creates,
    };
  } finally {
    await client.close();
    await running.stop();
  }
}

/** Creates without the command, and beside it, in turn. */
async function besides(
  { stretches }: LedgerExtent,
  offer: () => Promise<CreateFigure>,
  start: () => Promise<() => Promise<void>>,
): Promise<Beside> {
  const figures: Beside = { usual: [], beside: [] };
  for (let stretch = 0; stretch < stretches; stretch++) {
    figures.usual.push(await offer());
    const stop = await start();
    figures.beside.push(await offer());
    await stop();
  }
  return figures;
}

async function lookUps(
  { plants, asked }: LedgerExtent,
  lookUp: (id: bigint) => Promise<unknown>,
): Promise<{ p50Ms: number; maxMs: number }> {
  const tookMs: number[] = [];
  for (let time = 0; time < asked; time++) {
    const id = BigInt(1 + Math.floor((time / asked) * plants * 0.9));
    const started = performance.now();
    await lookUp(id);
    tookMs.push(performance.now() - started);
  }
  return { p50Ms: percentile(tookMs, 0.5), maxMs: Math.max(...tookMs) };
}

/** @throws Error where the command found a fault or failed: then the figures say nothing. */
function told(say: (line: string) => void, name: string, figure: CommandFigure): CommandFigure {
  const { exitCode, seconds, memoryBytesMax, answer } = figure;
  if (exitCode !== 0) throw new Error(`${name} ended with ${exitCode}: ${answer}`);
  say(`${name}: ${seconds.toFixed(1)} s, at most ${Math.round(memoryBytesMax / 2 ** 20)} MiB: ${answer}`);
  return figure;
}
