import { spread } from '../measure/statistics.ts';
import type { Beside, BesideCreates, LedgerResults } from './measure-ledger.ts';

const ledgerGoals = {
  /** Of each kind of search, at the median. */
  searchMs: 50,
  /** For a million entries. */
  verifySeconds: 120,
  /** p99 of creates beside a reindex, as a multiple of the usual. */
  createsRatio: 1.2,
} as const;

const MILLION = 1_000_000;

/** What was measured at each size, for people. */
export function ledgerTables(all: readonly LedgerResults[]): string {
  const sizes = all.toSorted((a, b) => a.plants - b.plants);
  return sizes.map(tables).join('\n\n');
}

function tables(results: LedgerResults): string {
  const { plants, date, commit, machine, fillSeconds, verify, reconcile, beside, story, proof } = results;
  return [
    `### ${count(plants)} plants`,
    '',
    `Measured ${date.slice(0, 16).replace('T', ' ')} UTC at commit ${commit} on ${machine.cores} cores (${machine.cpu}), MongoDB ` +
      `${machine.versions['mongod']}, Node ${machine.versions['node']}; load before: ${machine.loadBefore.toFixed(1)}. Stored, indexed and ` +
      `audited in ${fillSeconds.toFixed(0)} s.`,
    '',
    '| search | median, ms | longest, ms | beside creates, ms | plants | keys and documents read | index |',
    '|---|---|---|---|---|---|---|',
    ...results.searches.map((figure, place) => {
      const { kind, p50Ms, maxMs, plants: found, keysExamined, documentsExamined, plans, timedOut } = figure;
      const loaded = beside?.searches[place]?.p50Ms;
      const how = plans.map((plan) => `\`${plan}\``).join(', ');
      return `| ${kind}${timedOut ? ' (ended at its time limit)' : ''} | ${ms(p50Ms)} | ${ms(maxMs)} | ${loaded === undefined ? '' : ms(loaded)} | ${found} | ${keysExamined}, ${documentsExamined} | ${how} |`;
    }),
    `| a plant's whole story | ${ms(story.p50Ms)} | ${ms(story.maxMs)} | | 1 | | |`,
    `| a plant's proof | ${ms(proof.p50Ms)} | ${ms(proof.maxMs)} | | 1 | | |`,
    '',
    '| command | takes | memory, at most | CPU of the command | CPU of mongod | p99 of creates beside it : without it |',
    '|---|---|---|---|---|---|',
    ...(
      [
        ['audit verify', verify, beside?.creates.verify],
        ['reconcile', reconcile, beside?.creates.reconcile],
        ...(beside ? ([['reindex', beside.reindex, beside.creates.reindex]] as const) : []),
      ] as const
    ).map(
      ([name, { seconds, memoryBytesMax, cpuSeconds }, figures]) =>
        `| \`${name}\` | ${seconds.toFixed(1)} s | ${mebibytes(memoryBytesMax)} MiB | ${cpuSeconds.command.toFixed(1)} s | ${cpuSeconds.mongod.toFixed(1)} s | ${figures === undefined ? '' : inRatio(figures)} |`,
    ),
    ...(beside === undefined ? [] : ['', reindexNote(beside)]),
  ].join('\n');
}

function reindexNote({ rate, reindex }: BesideCreates): string {
  return (
    `Beside the creates (${rate} a second, open loop) \`reindex\` ran at its own rate. It was killed with \`kill -9\` after ` +
    `${count(reindex.killedAt)} plants; the row shows the run that went on from there, without a limit (\`--rate 1000000\`), and ` +
    'first waited for the lease to expire.'
  );
}

/** Goals that the figures miss, in words. */
export function missedGoals(results: LedgerResults): string[] {
  const { searches, verify, plants, beside } = results;
  const slow = searches.filter(({ p50Ms, timedOut }) => timedOut || p50Ms >= ledgerGoals.searchMs);
  const verifyMax = (ledgerGoals.verifySeconds * Math.max(plants, MILLION)) / MILLION;
  const ratio = beside === undefined ? 0 : p99Ratio(beside.creates.reindex);
  return [
    ...slow.map(({ kind, p50Ms }) => `${kind} takes ${ms(p50Ms)} ms`),
    ...searches
      .filter(({ plans }) => plans.some((plan) => plan.includes('COLLSCAN')))
      .map(({ kind }) => `${kind} reads the whole collection`),
    ...(verify.seconds < verifyMax ? [] : [`audit verify takes ${verify.seconds.toFixed(0)} s`]),
    ...(ratio <= ledgerGoals.createsRatio
      ? []
      : [`creates beside a reindex have ${ratio.toFixed(2)} times the usual p99`]),
  ];
}

function p99Ratio({ usual, beside }: Beside): number {
  const median = (of: Beside['usual']) => spread(of.map(({ p99Ms }) => p99Ms)).median;
  return median(beside) / median(usual);
}

function inRatio(figures: Beside): string {
  const shown = (of: Beside['usual']) => {
    const { median, min, max } = spread(of.map(({ p99Ms }) => p99Ms));
    return `${ms(median)} (${ms(min)} to ${ms(max)}) ms`;
  };
  return `${p99Ratio(figures).toFixed(2)}: ${shown(figures.beside)} : ${shown(figures.usual)}`;
}

const ms = (value: number) => value.toFixed(1);
const mebibytes = (bytes: number) => Math.round(bytes / 2 ** 20);
const count = (value: number) => new Intl.NumberFormat('en-GB').format(value);
