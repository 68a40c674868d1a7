import { type Database, databaseOf, type Log } from './events-database.ts';
import { type Job, jobKey, jobSteps } from './events-jobs.ts';
import { type Worker, workerKey, workerSteps } from './events-worker.ts';
import type { Model, Step } from './explore.ts';

/**
 * From a stored plant to an indexed and audited one (docs/invariants.md, E1–E5): pending flags, creation jobs, workers
 * with a relay each, the search index and the audit chains.
 *
 * - MongoDB: `durable` is what a majority has; the logs hold, in order, what the primary has applied beyond it. A
 *   failover cuts a log anywhere. With `sharded` plants have a log of their own, and order across collections means
 *   nothing. With `deposedReads` an old primary goes on answering reads from what it had.
 * - The API is the environment: plants land one by one, late, again after a rollback, also in another commit.
 * - Redis: the id of a job is that of its first commit; its contents name the commits that share it. At any moment a
 *   job, its contents or its place in the list may be lost, an older one come back, a running one be delivered again.
 * - A worker takes a job, reads pending plants, indexes, sends a block, clears the flags, completes the job. A block
 *   that is refused, or whose reply is lost, is planned again without the events that are audited by then. A worker may
 *   crash or fail between any two steps, and its block lands later or never.
 */
export type EventsProtocol = {
  /** For each plant the commits that may insert it; the commit stands for the content too. */
  homes: number[][];
  /** Writes beyond the majority point, in each log. */
  logLengthMax: number;
  /** The chain each worker seals. */
  chains: [number, number];
  sharded: boolean;
  deposedReads: boolean;
  /** A worker processes the pending plants of every commit, as a batch of all waiting jobs does. */
  batches: boolean;
  /** Jobs that name several commits are published. */
  sharedJobs: boolean;

  pendingRead: 'majority' | 'local';
  headRead: 'majority' | 'local';
  eventsRead: 'majority' | 'local';
  auditWrites: 'majority' | 'w:1';
  indexWrites: 'majority' | 'w:1';
  uniqueEvent: boolean;
  uniqueHeight: boolean;
  /**
   * The head that a worker remembers of its own chain: none, that of its last block until the next collision or lost
   * reply (`sealed`), or also one whose block a majority did not acknowledge (`sent`).
   */
  remembersHeads: 'no' | 'sealed' | 'sent';
  /** A block that was refused is planned again without the events that are audited. */
  planAgain: boolean;
  clears: 'plants' | 'commit';
  clearsWhen: 'audited' | 'published';
  completedJobs: 'removed' | 'kept';
  /** The relay retries failed jobs: all of them, only those with pending plants, none. */
  retries: 'all' | 'with pending plants' | 'none';
  /** The relay frees ids that a lost job holds. */
  releases: boolean;
  /** Jobs that may be left at the end. */
  jobsLeft: Job['state'][];
  /** Of two states that differ by the names of their workers one is visited. */
  interchangeable: boolean;
};

const eventsProtocol: EventsProtocol = {
  homes: [[0], [0]],
  logLengthMax: 2,
  chains: [0, 0],
  sharded: false,
  deposedReads: false,
  batches: false,
  sharedJobs: false,
  pendingRead: 'majority',
  headRead: 'majority',
  eventsRead: 'majority',
  auditWrites: 'majority',
  indexWrites: 'majority',
  uniqueEvent: true,
  uniqueHeight: true,
  remembersHeads: 'no',
  planAgain: true,
  clears: 'plants',
  clearsWhen: 'audited',
  completedJobs: 'removed',
  retries: 'all',
  releases: true,
  jobsLeft: ['none', 'lost', 'kept'],
  interchangeable: true,
};

export type EventsState = {
  /** Numbers of interned views: what a majority has, and for a deposed primary what a majority had and what it had. */
  durable: number;
  deposed: { durable: number; applied: number } | undefined;
  logs: [Log, Log];
  /** The block each worker has sent and not seen land, 0 for none. */
  blocksInFlight: [number, number];
  workers: [Worker, Worker];
  /** The block each worker remembers as the head of its chain, 0 for none. */
  heads: [number, number];
  /** By the number of their first commit. */
  jobs: Job[];
};

export type EventsModel = Model<EventsState> & { database: Database; protocol: EventsProtocol };

export function eventsModel(deviation: Partial<EventsProtocol> = {}): EventsModel {
  const protocol = { ...eventsProtocol, ...deviation };
  const commits = [...new Set(protocol.homes.flat())].sort();
  const database = databaseOf(protocol);
  // Workers on two chains are not interchangeable.
  const areAlike = protocol.interchangeable && protocol.chains[0] === protocol.chains[1];

  function* steps(state: EventsState): Iterable<Step<EventsState>> {
    for (const step of [
      ...databaseSteps(state, database, protocol),
      ...jobSteps(state, database, protocol, commits),
      ...workerSteps(state, database, protocol, commits),
    ]) {
      yield areAlike ? { ...step, next: ordered(step.next) } : step;
    }
  }

  return {
    protocol,
    database,
    initial: {
      durable: database.empty,
      deposed: undefined,
      logs: [[], []],
      blocksInFlight: [0, 0],
      workers: [{ at: 'idle' }, { at: 'idle' }],
      heads: [0, 0],
      jobs: commits.map(() => ({ state: 'none' })),
    },
    keyOf,
    steps,
    broken: (state) => database.broken(state.durable, database.applied(state.durable, state.logs)),
    done: (state) =>
      state.logs.every((log) => log.length === 0) &&
      state.blocksInFlight.every((block) => block === 0) &&
      state.workers.every(({ at }) => at === 'idle') &&
      state.jobs.every((job) => protocol.jobsLeft.includes(job.state)) &&
      database.isSettled(state.durable),
  };
}

function keyOf({ durable, deposed, logs, blocksInFlight, workers, heads, jobs }: EventsState): string {
  const old = deposed === undefined ? '' : `${deposed.durable},${deposed.applied}`;
  let key = `${durable}|${logs[0]}|${logs[1]}|${old}|${workerKey(workers[0])}|${workerKey(workers[1])}`;
  key += `|${blocksInFlight[0]},${blocksInFlight[1]}|${heads[0]},${heads[1]}`;
  for (const job of jobs) key += `|${jobKey(job)}`;
  return key;
}

function ordered(state: EventsState): EventsState {
  const { workers, blocksInFlight, heads, jobs } = state;
  const key = (worker: 0 | 1) => {
    let held = '';
    for (const job of jobs) held += job.state === 'active' && job.worker === worker ? '1' : '0';
    return `${workerKey(workers[worker])}|${blocksInFlight[worker]}|${heads[worker]}|${held}`;
  };
  if (key(0) <= key(1)) return state;
  return {
    ...state,
    workers: [workers[1], workers[0]],
    blocksInFlight: [blocksInFlight[1], blocksInFlight[0]],
    heads: [heads[1], heads[0]],
    jobs: jobs.map((job) => (job.state === 'active' ? { ...job, worker: job.worker === 0 ? 1 : 0 } : job)),
  };
}

/** What MongoDB does by itself, and plants that land. */
function* databaseSteps(
  state: EventsState,
  database: Database,
  { deposedReads, homes }: EventsProtocol,
): Iterable<Step<EventsState>> {
  const { durable, deposed, logs } = state;
  const applied = database.applied(durable, logs);
  for (const which of [0, 1] as const) {
    const log = logs[which];
    const withLog = (next: Log): EventsState['logs'] => (which === 0 ? [next, logs[1]] : [logs[0], next]);
    const [first] = log;
    if (first !== undefined) {
      const next = { ...state, durable: database.apply(durable, first), logs: withLog(log.slice(1)) };
      yield { label: `a majority has the ${database.kindOf(first)}`, fault: false, next };
    }
    for (let cut = 0; cut < log.length; cut++) {
      const lost = log.slice(cut).map(database.kindOf).join(' and ');
      const next = {
        ...state,
        logs: withLog(log.slice(0, cut)),
        deposed: deposedReads ? { durable, applied } : undefined,
      };
      yield { label: `failover, rolled back: ${lost}`, fault: true, next };
    }
  }
  if (deposed !== undefined) {
    yield { label: 'the old primary steps down', fault: false, next: { ...state, deposed: undefined } };
  }
  for (const [plant, commits] of homes.entries()) {
    if (database.isStored(applied, plant)) continue;
    for (const commit of commits) {
      const written = database.write(logs, { kind: 'insert', plant, commit });
      if (written === undefined) continue;
      yield {
        label: `plant ${plant} is inserted by commit ${commit}`,
        fault: true,
        next: { ...state, logs: written },
      };
    }
  }
}
