import { mongoAuditedIndex } from '@plant-store/search/mongo/mongo-audited-index';
import { mongoTermIndex } from '@plant-store/search/mongo/mongo-term-index';
import { PAGE_PLANTS_MAX, searchPlants } from '@plant-store/search/search-plants';
import type { Db } from 'mongodb';
import { percentile } from '../measure/statistics.ts';
import type { Asked } from './questions.ts';

/** What one kind of search took, and how the database found its plants. */
export type SearchFigure = {
  kind: string;
  p50Ms: number;
  maxMs: number;
  plants: number;
  timedOut: boolean;
  /** As the database's profiler says of one search: the plans of its operations, and what they read together. */
  plans: string[];
  keysExamined: number;
  documentsExamined: number;
};

/** Asks each question `times` times, in turn, and once more under the database's profiler. */
export async function measureSearches(
  database: Db,
  asked: readonly Asked[],
  times: number,
): Promise<SearchFigure[]> {
  const indexes = { index: mongoTermIndex(database), audited: mongoAuditedIndex(database) };
  const figures: SearchFigure[] = [];
  for (const { kind, question, skip = 0 } of asked) {
    const after = await placeAfter(skip);
    const ask = () => searchPlants(indexes, question, after === undefined ? {} : { after });
    const tookMs: number[] = [];
    let answer = await ask();
    for (let time = 0; time < times; time++) {
      const started = performance.now();
      answer = await ask();
      tookMs.push(performance.now() - started);
    }
    figures.push({
      kind,
      p50Ms: percentile(tookMs, 0.5),
      maxMs: Math.max(...tookMs),
      plants: answer.plants.length,
      timedOut: answer.timedOut,
      ...(await profiled(database, ask)),
    });

    async function placeAfter(plants: number): Promise<string | undefined> {
      let place: string | undefined;
      for (let seen = 0; seen < plants; ) {
        const page = await searchPlants(indexes, question, {
          plantsMax: Math.min(PAGE_PLANTS_MAX, plants - seen),
          msMax: 10_000,
          ...(place !== undefined && { after: place }),
        });
        if (page.next === undefined) throw new Error(`${kind}: there are only ${seen} plants`);
        place = page.next;
        seen += page.plants.length;
      }
      return place;
    }
  }
  return figures;
}

type Profile = { planSummary: string; keysExamined?: number; docsExamined?: number };

async function profiled(
  database: Db,
  ask: () => Promise<unknown>,
): Promise<Pick<SearchFigure, 'plans' | 'keysExamined' | 'documentsExamined'>> {
  const profile = database.collection<Profile>('system.profile');
  await database.command({ profile: 0 });
  await profile.drop();
  await database.command({ profile: 2, filter: { appName: 'bench', planSummary: { $exists: true } } });
  await ask();
  await database.command({ profile: 0, filter: 'unset' });
  const operations = await profile.find({ ns: /\.(?:plant_search|audit_blocks)$/ }).toArray();
  const sum = (of: (operation: Profile) => number | undefined) =>
    operations.reduce((all, operation) => all + (of(operation) ?? 0), 0);
  return {
    plans: [...new Set(operations.map(({ planSummary }) => planSummary))].toSorted(),
    keysExamined: sum(({ keysExamined }) => keysExamined),
    documentsExamined: sum(({ docsExamined }) => docsExamined),
  };
}
