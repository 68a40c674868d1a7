import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { token } from '../harness/api/tokens.ts';
import { NoSmallDiskError } from '../harness/servers/small-disk.ts';
import { waitFor } from '../harness/wait-for.ts';
import { checkEvents, checkLedger } from './checkers/events.ts';
import { type Bound, checkAnswerTimes, checkUndisturbed, slowestMs } from './checkers/liveness.ts';
import { jobCount, readJobs, readState, type State } from './checkers/state.ts';
import { checkStorage } from './checkers/storage.ts';
import type { Violation } from './checkers/violation.ts';
import { type Attempt, createHistory, type History, uncontested } from './history/history.ts';
import { defaultLoad, type Load, startLoad } from './load/load.ts';
import { seededRandom } from './random.ts';
import type { RowResult } from './report/results.ts';
import { testedCommit } from './report/tested-commit.ts';
import type { Prepared, Row, Run } from './rows/row.ts';
import { CannotRunHereError, type System, startSystem } from './system/system.ts';
import { defaultTopology } from './system/topology.ts';

/** Creates that succeed before the fault, so that everything is warm. */
const WARM_CREATES = 40;
const WARM_MS_MAX = 15_000;
/** The fault comes at a random moment after that. */
const MOMENT_MS = { min: 100, max: 900 };
/** Tokens outlive the clock that row 40 sets two hours ahead. */
const TOKEN_SECONDS = 24 * 3_600;

/** L2: creates succeed again within 15 s of the end of the fault, workers run within 30 s of it. */
const RECOVERED_MS_MAX = 15_000;
const RECOVERED_CREATES = 50;
const PROCESSED_MS_MAX = 30_000;
/** E1: everything is indexed within 60 s of the end of the fault. */
const QUIET_MS_MAX = 60_000;
/** A job that has nothing to do. */
const LATE_JOB_MS_MAX = 10_000;
/** Retries of what is unknown. */
const RETRIES_MS_MAX = 20_000;

export type RunRowOptions = {
  /** The durations of the matrix instead of short ones. */
  isWhole?: boolean;
  /** Bounds of answer times, where the machine does other work as well; else as they are promised. */
  bound?: Bound;
  /** Whose sources run, when not those of this tree. */
  tree?: string;
};

/**
 * Runs one row with one seed: starts the system, drives a load, injects the fault and ends it, waits until everything is
 * quiet, reads everything once, and checks every invariant. Leaves nothing behind, however it ends.
 * @param report is told what happens
 */
export async function runRow(
  row: Row,
  seed: number,
  report: (line: string) => void,
  { isWhole = false, bound = (ms) => ms, tree }: RunRowOptions = {},
): Promise<RowResult> {
  const began = performance.now();
  const tested = await testedCommit();
  const history = createHistory();
  const violations: Violation[] = [];
  const times = { recoveredMs: 0, processedMs: 0, quietMs: 0 };
  const notes: string[] = [];
  let broken: unknown;
  try {
    await withSystem(row, seed, tree, history, async (system, load, prepared) => {
      const run: Run = {
        system,
        history,
        load,
        random: seededRandom(`fault ${row.row} ${seed}`),
        isWhole,
        poison: new Set(),
        say: report,
        note: (text) => notes.push(text),
        pause: (ms, wholeMs = ms) => {
          if (!isWhole && ms < wholeMs) notes.push(`${ms / 1_000} s instead of ${wholeMs / 1_000} s`);
          return sleep(isWhole ? wholeMs : ms);
        },
        fail: (found, operations = []) => violations.push({ invariant: 'row', found, history: operations }),
      };
      violations.push(...(await experiment(row, run, prepared, times, bound)));
    });
  } catch (error) {
    broken = error;
  }
  return {
    row: row.row,
    title: row.title,
    moment: row.moment,
    ...(notes.length > 0 && { note: [...new Set(notes)].join('; ') }),
    seed,
    ...tested,
    ...verdictOf(violations, broken),
    violations,
    ...figures(history),
    ...times,
    seconds: Math.round((performance.now() - began) / 100) / 10,
  };
}

async function withSystem(
  row: Row,
  seed: number,
  tree: string | undefined,
  history: History,
  work: (system: System, load: Load, prepared: Prepared | undefined) => Promise<void>,
): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const prepared = await row.prepare?.();
  if (prepared !== undefined) stack.defer(prepared.close);
  const topology = { ...defaultTopology, ...row.topology };
  const api = { ...topology.api, ...prepared?.api };
  const system = await startSystem({ ...topology, api }, tree);
  stack.defer(system.close);
  const exp = Math.floor(Date.now() / 1_000) + TOKEN_SECONDS;
  const tokens = new Map<string, string>();
  const tokenOf = (sub: string) => {
    const made = tokens.get(sub) ?? token({ claims: { sub, exp } });
    tokens.set(sub, made);
    return made;
  };
  const load = startLoad({
    history,
    random: seededRandom(`load ${row.row} ${seed}`),
    options: { ...defaultLoad, ...row.load },
    targets: system.targets,
    token: prepared?.token ?? tokenOf,
  });
  stack.defer(load.close);
  await work(system, load, prepared);
}

async function experiment(
  row: Row,
  run: Run,
  prepared: Prepared | undefined,
  times: Pick<RowResult, 'recoveredMs' | 'processedMs' | 'quietMs'>,
  bound: Bound,
): Promise<Violation[]> {
  const { system, load, history, random, poison } = run;
  const lag = monitorEventLoopDelay();
  lag.enable();
  await load.untilOk(WARM_CREATES, WARM_MS_MAX);
  await sleep(random.between(MOMENT_MS.min, MOMENT_MS.max));
  const faultMs = history.now();
  await row.fault(run, prepared);
  const overMs = history.now();
  const since = () => Math.round(history.now() - overMs);

  const violations: Violation[] = [];
  const wait = async (invariant: string, what: Promise<unknown>) => {
    try {
      await what;
    } catch (error) {
      violations.push({ invariant, found: (error as Error).message, history: [] });
    }
    return since();
  };
  times.recoveredMs = await wait('L2', untilRecovered(history, overMs));
  times.processedMs = await wait('L2', untilProcessed(run, PROCESSED_MS_MAX - since()));
  await load.finish(RETRIES_MS_MAX);
  lag.disable();
  times.quietMs = await wait('E1', untilQuiet(run, QUIET_MS_MAX - since()));

  const state = await readQuietState(run);
  violations.push(...checkStorage(history, state));
  violations.push(...checkEvents(history, state, poison));
  violations.push(...(await checkLedger(system, poison)));
  const { undisturbed, noFailedAttempt, slowAnswers, finally: check } = row.expectations ?? {};
  if (!slowAnswers) violations.push(...checkAnswerTimes(history, lag.max / 1e6, bound));
  if (undisturbed) violations.push(...checkUndisturbed(history, faultMs, overMs, bound));
  if (noFailedAttempt) violations.push(...checkNoFailedAttempt(history));
  await check?.(run, state);
  const exits = await system.stop();
  violations.push(...exits.map((found) => ({ invariant: 'L5', found, history: [] })));
  return violations;
}

/** Waits until 99 of 100 creates that were sent after the fault succeed: of the last 50, all do. */
async function untilRecovered(history: History, overMs: number): Promise<void> {
  await waitFor(
    () => {
      const sent = uncontested(history)
        .flatMap(({ attempts }) => attempts)
        .filter(({ invokedMs, hungUp }) => invokedMs >= overMs && hungUp !== true)
        .sort((a, b) => a.endedMs - b.endedMs)
        .slice(-RECOVERED_CREATES);
      return sent.length === RECOVERED_CREATES && sent.every(({ outcome }) => outcome === 'ok');
    },
    { withinMs: RECOVERED_MS_MAX, what: '99 % of the creates succeed' },
  );
}

/** Creates a plant and waits until it is indexed and audited. */
async function untilProcessed({ system, load }: Run, withinMs: number): Promise<void> {
  const began = performance.now();
  const operation = await waitFor(
    async () => {
      const created = await load.createOne();
      return created.attempt.outcome === 'ok' ? created.operation : undefined;
    },
    { withinMs, what: 'a create after the fault succeeds' },
  );
  await waitFor(
    async () => {
      const plant = await system.db.collection<{ _id: bigint }>('plants').findOne({ _id: operation.id });
      return plant !== null && !('pending' in plant);
    },
    {
      withinMs: withinMs - (performance.now() - began),
      what: 'a plant that was created after the fault is processed',
    },
  );
}

/** Waits until nothing is pending but poison and no job is left but for poison, seen twice in a row. */
async function untilQuiet({ system, poison }: Run, withinMs: number): Promise<void> {
  let quiet = 0;
  const pending = { pending: { $exists: true }, _id: { $nin: [...poison] } } as object;
  await waitFor(
    async () => {
      const [plants, jobs] = await Promise.all([
        system.db.collection('plants').countDocuments(pending),
        readJobs(system.queue),
      ]);
      // Each poison plant has a commit and so a job of its own.
      const isQuiet = plants === 0 && jobCount(jobs) <= poison.size;
      quiet = isQuiet ? quiet + 1 : 0;
      if (quiet > 1) return true;
      throw new Error(`${plants} plants are pending, jobs: ${JSON.stringify(jobs)}`);
    },
    { withinMs, what: 'no plant is pending and no job is left' },
  );
}

/**
 * Everything, when no job is left. The relay may publish a commit once more that it saw pending before a majority had its
 * clear: that job ends by itself, and everything is read again.
 */
async function readQuietState(run: Run): Promise<State> {
  const state = await readState(run.system);
  if (jobCount(state.jobs) <= run.poison.size) return state;
  await untilQuiet(run, LATE_JOB_MS_MAX).catch(() => {});
  return readState(run.system);
}

function checkNoFailedAttempt(history: History): Violation[] {
  const failed = uncontested(history).filter(({ attempts }) =>
    attempts.some(({ outcome }) => outcome !== 'ok'),
  );
  if (failed.length === 0) return [];
  const found = `${failed.length} creates failed at least once, where none was to fail`;
  return [{ invariant: 'row', found, history: failed.slice(0, 3) }];
}

function verdictOf(violations: readonly Violation[], broken: unknown): Pick<RowResult, 'verdict' | 'reason'> {
  const isMissing = broken instanceof NoSmallDiskError || broken instanceof CannotRunHereError;
  if (isMissing) return { verdict: 'not run', reason: broken.message };
  if (broken !== undefined) return { verdict: 'fails', reason: `the run broke off: ${describe(broken)}` };
  return { verdict: violations.length === 0 ? 'holds' : 'fails' };
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

function figures(history: History): Pick<RowResult, 'requests' | 'slowestMs'> {
  const attempts: Attempt[] = history.operations.flatMap((operation) => operation.attempts);
  const count = (outcome: Attempt['outcome']) => attempts.filter((each) => each.outcome === outcome).length;
  return {
    requests: { ok: count('ok'), refused: count('refused'), unknown: count('unknown') },
    slowestMs: Math.round(slowestMs(attempts)),
  };
}
