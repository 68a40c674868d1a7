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
import {
  besideCommand,
  type CreateFigure,
  type Creates,
  copied,
  offerCreates,
  startReindex,
} from './beside.ts';
import { type CommandFigure, runCommand } from './commands.ts';
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
  /** Stretches of creates beside each command, each next to one without. With 0, nothing is measured beside creates, nor a reindex. */
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
  story: { p50Ms: number; maxMs: number };
  proof: { p50Ms: number; maxMs: number };
  verify: CommandFigure;
  reconcile: CommandFigure;
  beside?: BesideCreates;
};

export type BesideCreates = {
  /** Creates a second. */
  rate: number;
  searches: SearchFigure[];
  /** Plants that the reindex had copied when it was killed, and when the last one but one began to copy. */
  reindex: CommandFigure & { killedAt: number; resumedAt: number };
  creates: Record<'reindex' | 'verify' | 'reconcile', Beside>;
};

/** Fills a store, and measures what is asked of its index and its audit log. */
export async function measureLedger(
  { ground, folder, say }: Bench,
  extent: LedgerExtent,
): Promise<LedgerResults> {
  const { plants } = extent;
  await ground.empty();
  const { privateKey, publicKey } = generateAnchorKey();
  const key = publicKeyFile(folder);
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
    const beside =
      extent.stretches === 0
        ? undefined
        : await measureBeside({ ground, folder, say }, extent, running.url, () =>
            measureSearches(database, asked, 3),
          );
    const reconcile = told(say, 'reconcile', await runCommand(ground, ['reconcile']));
    return {
      date: new Date().toISOString(),
      commit: currentCommit(),
      ...{ machine, plants, fillSeconds, searches, story, proof, verify, reconcile },
      ...(beside && { beside }),
    };
  } finally {
    await client.close();
    await running.stop();
  }
}

/** Searches and commands beside creates; the reindex is killed each time, and ended at last. */
async function measureBeside(
  { ground, folder, say }: Bench,
  extent: LedgerExtent,
  url: string,
  search: () => Promise<SearchFigure[]>,
): Promise<BesideCreates> {
  const offered: Creates = { url, rate: RATE, seconds: extent.stretchSeconds, connections: CONNECTIONS };
  const offer = () => offerCreates(ground, offered);
  await offerCreates(ground, { ...offered, seconds: WARM_UP_SECONDS });
  const [searches] = await Promise.all([search(), offer()]);
  say('searches beside creates are measured');

  const state = { killedAt: 0, resumedAt: 0 };
  const reindexing = await besides(extent, offer, async () => {
    const { child, copiedBefore } = await startReindex(ground);
    state.resumedAt = copiedBefore;
    const figure = await offer();
    child.kill('SIGKILL');
    if ((await child.gone) === 0) say('a reindex ended within the stretch');
    state.killedAt = await copied(ground);
    return figure;
  });
  say(`creates beside reindex are measured; it was killed after ${state.killedAt} plants`);
  const reindex = told(say, 'reindex', await runCommand(ground, ['reindex', '--rate', '1000000']));

  const command = (...args: string[]) => besides(extent, offer, () => besideCommand(ground, args, offer));
  const creates = {
    reindex: reindexing,
    verify: await command('audit', 'verify', '--key', publicKeyFile(folder)),
    reconcile: await command('reconcile'),
  };
  return { rate: RATE, searches, reindex: { ...reindex, ...state }, creates };
}

function publicKeyFile(folder: string): string {
  return join(folder, 'anchor-key.pub.pem');
}

/** Creates without the command, and beside it, in turn. */
async function besides(
  { stretches }: LedgerExtent,
  offer: () => Promise<CreateFigure>,
  offerBeside: () => Promise<CreateFigure>,
): Promise<Beside> {
  const figures: Beside = { usual: [], beside: [] };
  for (let stretch = 0; stretch < stretches; stretch++) {
    figures.usual.push(await offer());
    figures.beside.push(await offerBeside());
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
