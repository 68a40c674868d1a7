import type { Database, Entry, View } from './events-database.ts';
import type { EventsProtocol, EventsState } from './events-model.ts';
import type { Step } from './explore.ts';

/** Where a worker is within a job; `plants` are those it read, `rest` those not found audited. */
export type Worker =
  | { at: 'idle' }
  | { at: 'read pending'; job: number; commits: number[] }
  | { at: 'index'; job: number; plants: Entry[] }
  | { at: 'leave out audited'; job: number; plants: Entry[] }
  | { at: 'seal'; job: number; plants: Entry[]; rest: Entry[] }
  | { at: 'await block'; job: number; plants: Entry[]; block: number }
  | { at: 'clear'; job: number; plants: Entry[] }
  | { at: 'complete'; job: number };

/** Remembered, since a step changes one of two workers, and most states share theirs with others. */
const keys = new WeakMap<Worker, string>();

export function workerKey(worker: Worker): string {
  const known = keys.get(worker);
  if (known !== undefined) return known;
  const key = keyOf(worker);
  keys.set(worker, key);
  return key;
}

function keyOf(worker: Worker): string {
  if (worker.at === 'idle') return '-';
  const { at, job } = worker;
  const commits = 'commits' in worker ? worker.commits.join('+') : '';
  const plants = 'plants' in worker ? worker.plants.join(';') : '';
  const rest = 'rest' in worker ? worker.rest.join(';') : '';
  const block = 'block' in worker ? worker.block : '';
  return `${at[0]}${at[1]}${job}:${commits}:${plants}:${rest}:${block}`;
}

const named = (entries: readonly Entry[]) => `[${entries.map(([plant]) => plant)}]`;

export function* workerSteps(
  state: EventsState,
  database: Database,
  protocol: EventsProtocol,
  commits: readonly number[],
): Iterable<Step<EventsState>> {
  for (const worker of [0, 1] as const) {
    yield* blockSteps(state, worker, database);
    if (state.workers[worker].at === 'idle') yield* idleSteps(state, worker, commits);
    else yield* processSteps(state, worker, database, protocol);
  }
}

function with2<T>([first, second]: readonly [T, T], worker: 0 | 1, value: T): [T, T] {
  return worker === 0 ? [value, second] : [first, value];
}

/** A block that was sent lands, is refused by a unique index, or is lost; its worker may be gone by then. */
function* blockSteps(state: EventsState, worker: 0 | 1, database: Database): Iterable<Step<EventsState>> {
  const block = state.blocksInFlight[worker];
  if (block === 0) return;
  const { height } = database.blockOf(block);
  const gone = { ...state, blocksInFlight: with2(state.blocksInFlight, worker, 0) };
  if (database.admits(database.applied(state.durable, state.logs), block)) {
    const logs = database.write(state.logs, { kind: 'block', block });
    if (logs !== undefined)
      yield { label: `block ${height} of w${worker} lands`, fault: false, next: { ...gone, logs } };
  } else {
    yield { label: `block ${height} of w${worker} is refused`, fault: false, next: gone };
  }
  yield { label: `block ${height} of w${worker} is lost`, fault: true, next: gone };
}

function* idleSteps(
  state: EventsState,
  worker: 0 | 1,
  commits: readonly number[],
): Iterable<Step<EventsState>> {
  if (state.heads[worker] !== 0) {
    const next = { ...state, heads: with2(state.heads, worker, 0) };
    yield { label: `w${worker} crashes`, fault: true, next };
  }
  for (const [index, job] of state.jobs.entries()) {
    if (job.state !== 'waiting') continue;
    const next: EventsState = {
      ...state,
      workers: with2<Worker>(state.workers, worker, { at: 'read pending', job: index, commits: job.commits }),
      jobs: state.jobs.with(index, { state: 'active', commits: job.commits, worker }),
    };
    yield { label: `w${worker} takes ${commits[index]}`, fault: false, next };
  }
}

function* processSteps(
  state: EventsState,
  worker: 0 | 1,
  database: Database,
  protocol: EventsProtocol,
): Iterable<Step<EventsState>> {
  const { durable, logs } = state;
  const me = state.workers[worker];
  if (me.at === 'idle') return;
  const { job: index } = me;
  const job = state.jobs[index] as EventsState['jobs'][number];
  const holdsJob = job.state === 'active' && job.worker === worker;
  const who = `w${worker}`;
  const goTo = (next: Worker, more: Partial<EventsState> = {}): EventsState => ({
    ...state,
    ...more,
    workers: with2<Worker>(state.workers, worker, next),
  });

  const remembering = (block: number) => ({ heads: with2(state.heads, worker, block) });

  yield { label: `${who} crashes`, fault: true, next: goTo({ at: 'idle' }, remembering(0)) };
  if (holdsJob) {
    for (const after of ['waiting', 'failed'] as const) {
      const jobs = state.jobs.with(index, { state: after, commits: job.commits });
      yield { label: `${who} fails, the job is ${after}`, fault: true, next: goTo({ at: 'idle' }, { jobs }) };
    }
  }

  const applied = database.viewOf(database.applied(durable, logs));
  const majority = database.viewOf(durable);
  switch (me.at) {
    case 'read pending':
      for (const view of database.reads(state, protocol.pendingRead)) {
        const plants = pendingOf(view, me.commits, protocol);
        const next: Worker =
          plants.length > 0 ? { at: 'index', job: index, plants } : { at: 'complete', job: index };
        yield { label: `${who} reads ${named(plants)}`, fault: false, next: goTo(next) };
      }
      return;

    case 'index': {
      const { plants } = me;
      const indexed: Worker = { at: 'seal', job: index, plants, rest: plants };
      const has = (view: View) => plants.every(([plant, content]) => view.index[plant] === content);
      if (has(majority) || (protocol.indexWrites === 'w:1' && has(applied))) {
        yield { label: `${who} has indexed`, fault: false, next: goTo(indexed) };
      } else if (!has(applied)) {
        const written = database.write(logs, { kind: 'index', entries: plants });
        if (written === undefined) return;
        const next = protocol.indexWrites === 'majority' ? me : indexed;
        yield { label: `${who} indexes`, fault: false, next: goTo(next, { logs: written }) };
      }
      return;
    }

    case 'leave out audited': {
      const { plants } = me;
      for (const view of database.reads(state, protocol.eventsRead)) {
        const audited = new Set(protocol.planAgain ? database.entriesOf(view).map(([plant]) => plant) : []);
        const rest = plants.filter(([plant]) => !audited.has(plant));
        const next: Worker =
          rest.length === 0 ? { at: 'clear', job: index, plants } : { at: 'seal', job: index, plants, rest };
        yield { label: `${who} finds ${named(rest)} not audited`, fault: false, next: goTo(next) };
      }
      return;
    }

    case 'seal': {
      if (state.blocksInFlight[worker] !== 0) return;
      const chain = protocol.chains[worker];
      const remembered = state.heads[worker];
      const heads =
        remembered !== 0
          ? [remembered]
          : database.reads(state, protocol.headRead).map((view) => database.head(view, chain));
      for (const previous of heads) {
        const height = previous === 0 ? 1 : database.blockOf(previous).height + 1;
        const block = database.block({ chain, height, previous, entries: me.rest });
        const next = goTo(
          { at: 'await block', job: index, plants: me.plants, block },
          { blocksInFlight: with2(state.blocksInFlight, worker, block), ...remembering(0) },
        );
        yield { label: `${who} sends block ${height} ${named(me.rest)}`, fault: false, next };
      }
      return;
    }

    case 'await block': {
      const { plants, block } = me;
      const again: Worker = { at: 'leave out audited', job: index, plants };
      if ((protocol.auditWrites === 'majority' ? majority : applied).blocks.includes(block)) {
        // What the block leaves out was found audited before it was sent.
        const head = protocol.remembersHeads === 'no' ? 0 : block;
        const next = goTo({ at: 'clear', job: index, plants }, remembering(head));
        yield { label: `${who} has sealed`, fault: false, next };
      } else if (state.blocksInFlight[worker] === 0 && !applied.blocks.includes(block)) {
        yield { label: `${who} sees its block refused`, fault: false, next: goTo(again) };
      }
      const head = protocol.remembersHeads === 'sent' ? block : 0;
      yield {
        label: `${who} gets no reply for its block`,
        fault: true,
        next: goTo(again, remembering(head)),
      };
      return;
    }

    case 'clear': {
      const plants = me.plants.map(([plant]) => plant);
      const done: Worker = { at: 'complete', job: index };
      if (protocol.clears === 'commit' || plants.some((plant) => applied.plants[plant]?.pending)) {
        const commit = me.plants[0]?.[1] ?? 0;
        const write =
          protocol.clears === 'plants'
            ? ({ kind: 'clear', plants } as const)
            : ({ kind: 'clear of a commit', commit } as const);
        const written = database.write(logs, write);
        if (written !== undefined)
          yield { label: `${who} clears`, fault: false, next: goTo(done, { logs: written }) };
      } else {
        yield { label: `${who} has nothing to clear`, fault: false, next: goTo(done) };
      }
      return;
    }

    case 'complete': {
      const left = { state: protocol.completedJobs === 'kept' ? 'kept' : 'none' } as const;
      const jobs = holdsJob ? state.jobs.with(index, left) : state.jobs;
      yield { label: `${who} completes`, fault: false, next: goTo({ at: 'idle' }, { jobs }) };
      return;
    }
  }
}

function pendingOf(view: View, commits: readonly number[], { batches, clearsWhen }: EventsProtocol): Entry[] {
  return view.plants.flatMap((stored, plant): Entry[] => {
    if (stored === undefined || !(batches || commits.includes(stored.commit))) return [];
    return stored.pending || clearsWhen === 'published' ? [[plant, stored.commit]] : [];
  });
}
