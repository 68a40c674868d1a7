import type { BSON, ObjectId } from 'mongodb';
import { apiCommand } from './api-command.ts';
import type { Recorded, RecordedStep, Reply } from './recorded.ts';
import type { TracedStep } from './replay.ts';

/** The steps of a recording in the words of the events model, and which plants and commits its numbers stand for. */
export type EventsTrace = { steps: TracedStep[]; homes: number[][]; plants: bigint[]; commits: string[] };

type Started = Extract<RecordedStep, { phase: 'started'; kind: 'command' }>;
/** How a command ended, and at which line; never where no reply came. */
type Ended = { at: number; reply: Reply | undefined };

const DUPLICATE_KEY = 11_000;
const MAJORITY = { w: 'majority', j: true };

/** Jobs are named after their first commit. */
const commitOf = (job: string) => job.replace(/^commit-/, '');

/**
 * Processes are called `api-…`, `worker-0` and `worker-1`. A command that the mapping does not know is an error: a new
 * step of the code needs one in the model.
 */
export function eventsTrace(recorded: readonly Recorded[]): EventsTrace {
  const trace: EventsTrace = { steps: [], homes: [], plants: [], commits: [] };
  const ends = endsOf(recorded);
  const workers = new Map(
    ['worker-0', 'worker-1'].map((name, number) => [name, workerTrace(`w${number}`, trace)]),
  );
  /** Where each job was last taken. */
  const taken = new Map<string, number>();
  let faultBegan = 0;

  for (const [at, step] of recorded.entries()) {
    const worker = workers.get(step.who);
    if (step.kind === 'command' && step.phase === 'started') {
      const ended = ends.get(`${step.kind} ${step.who} ${step.id}`) ?? {
        at: Number.POSITIVE_INFINITY,
        reply: undefined,
      };
      if (worker === undefined) storesPlants(trace, step, at, ended);
      else worker.command(step, at, ended);
    } else if (step.kind === 'publication' && step.phase === 'started') {
      const to = ends.get(`${step.kind} ${step.who} ${step.id}`)?.at ?? Number.POSITIVE_INFINITY;
      for (const job of step.commits) {
        const [first, ...others] = job.map((commit) => numberOf(trace.commits, commit));
        const named = [first, ...others.sort((a, b) => a - b)];
        const labels = [`job ${named.join('+')} is published`, `the relay publishes ${first}`];
        trace.steps.push({ lane: `publication ${at} of ${job[0]}`, labels, from: at, to, required: false });
      }
    } else if (step.kind === 'job' && step.event === 'released') {
      for (const commit of trace.commits.keys()) float(`the relay releases ${commit}`, at);
    } else if (step.kind === 'job' && step.event === 'retried') {
      float(`the relay retries ${numberOf(trace.commits, commitOf(step.job))}`, at);
    } else if (step.kind === 'job' && step.event === 'stalled') {
      const job = numberOf(trace.commits, commitOf(step.job));
      trace.steps.push({
        lane: `stalls at ${at}`,
        labels: [`job ${job} stalls, waits again`],
        from: taken.get(step.job) ?? 0,
        to: at,
        required: true,
      });
    } else if (step.kind === 'job') {
      worker?.job(step.event, numberOf(trace.commits, commitOf(step.job)), at);
      if (step.event === 'active') taken.set(step.job, at);
    } else if (step.kind === 'killed') {
      workers.get(step.process)?.killed(at);
    } else if (step.kind === 'fault began') {
      faultBegan = at;
    } else if (step.kind === 'fault ended') {
      const labels =
        step.fault === 'failover'
          ? ['failover, rolled back: *']
          : trace.commits.map((_commit, number) => `Redis loses job ${number}`);
      for (const [index, label] of labels.entries()) {
        trace.steps.push({
          lane: `fault at ${at}.${index}`,
          labels: [label],
          from: faultBegan,
          to: at,
          required: false,
        });
      }
    }
  }
  for (const worker of workers.values()) worker.over(recorded.length);
  return trace;

  function float(label: string, at: number): void {
    const to = Number.POSITIVE_INFINITY;
    trace.steps.push({ lane: `${label} at ${at}`, labels: [label], from: at, to, required: false });
  }
}

function endsOf(recorded: readonly Recorded[]): Map<string, Ended> {
  const ends = new Map<string, Ended>();
  for (const [at, step] of recorded.entries()) {
    if (!('phase' in step) || step.phase === 'started') continue;
    const reply = step.kind === 'command' && step.phase === 'replied' ? (step.reply as Reply) : undefined;
    ends.set(`${step.kind} ${step.who} ${step.id}`, { at, reply });
  }
  return ends;
}

/** The number that stands for a value, by the order of appearance. */
function numberOf<T>(values: T[], value: T): number {
  const known = values.indexOf(value);
  return known >= 0 ? known : values.push(value) - 1;
}

/**
 * The API's insert. A plant whose insert was not acknowledged may land at any moment. Its reads change nothing here:
 * they are steps of the storage model.
 */
function storesPlants(
  trace: EventsTrace,
  { name, body }: Started,
  at: number,
  { at: end, reply }: Ended,
): void {
  if (apiCommand(name, body) === 'find') return;
  const acknowledged = reply !== undefined && reply.writeConcernError === undefined;
  for (const [index, document] of (body['documents'] as { _id: bigint; commit: ObjectId }[]).entries()) {
    const plant = numberOf(trace.plants, document._id);
    const commit = numberOf(trace.commits, document.commit.toHexString());
    const homes = trace.homes[plant] ?? [];
    trace.homes[plant] = homes;
    if (!homes.includes(commit)) homes.push(commit);
    if (reply?.writeErrors?.some((error) => error.index === index)) continue;
    trace.steps.push({
      lane: `insert at ${at} of ${plant}`,
      labels: [`plant ${plant} is inserted by commit ${commit}${concernOf(body)}`],
      from: at,
      to: acknowledged ? end : Number.POSITIVE_INFINITY,
      required: acknowledged,
    });
  }
}

/** The steps of one worker, which follow each other. */
function workerTrace(who: string, trace: EventsTrace) {
  let since = 0;
  let job: number | undefined;
  let toRead = false;
  let headRead: number | undefined;
  let sent = 0;

  const push = (labels: readonly string[], from: number, to: number, required = true) => {
    trace.steps.push({ lane: who, labels, from, to, required });
    if (Number.isFinite(to)) since = to;
  };
  const named = (plants: readonly bigint[]) =>
    `[${plants.map((plant) => numberOf(trace.plants, plant)).sort((a, b) => a - b)}]`;

  /** It has ended its job although Redis had lost it: BullMQ then reports nothing. */
  const ends = (at: number) => {
    if (job !== undefined) push([`${who} completes`, `${who} crashes`], since, at, false);
    job = undefined;
  };

  function reads({ body }: Started, at: number, { at: end, reply }: Ended): void {
    if (reply === undefined) return;
    const level = (body['readConcern'] as { level?: string } | undefined)?.level;
    const how = level === 'majority' ? '' : ` with read concern ${level}`;
    const found = reply.cursor?.firstBatch ?? [];
    if (body['find'] === 'plants') {
      if (!toRead) {
        // A batch that met an outage is begun anew, while its job stays active.
        push([`${who} fails, the job is waiting`], since, at);
        push([`${who} takes ${job}`], since, at);
      }
      toRead = false;
      push([`${who} reads ${named(found.map(({ _id }) => _id as bigint))}${how}`], at, end);
    } else if ('chain' in (body['filter'] as BSON.Document)) {
      headRead = at;
      if (how !== '') push([`${who} reads the head${how}`], at, end);
    } else {
      const asked = (body['filter'] as { 'entries.event': { $in: bigint[] } })['entries.event'].$in;
      const sealed = new Set(
        found.flatMap(({ entries }) => (entries as { event: bigint }[]).map(({ event }) => event)),
      );
      const rest = asked.filter((event) => !sealed.has(event));
      push([`${who} finds ${named(rest)} not audited${how}`], at, end);
    }
  }

  function indexes({ body }: Started, at: number, { at: end, reply }: Ended): void {
    push([`${who} indexes`], at, end, false);
    if (reply === undefined || reply.writeConcernError !== undefined) return;
    if ((reply.writeErrors ?? []).length === 0) push([`${who} has indexed${concernOf(body)}`], at, end);
  }

  function seals({ body }: Started, at: number, { at: end, reply }: Ended): void {
    const [block] = body['documents'] as { height: number; entries: { event: bigint }[] }[];
    const height = block?.height;
    push(
      [`${who} sends block ${height} ${named(block?.entries.map(({ event }) => event) ?? [])}`],
      headRead ?? at,
      at,
    );
    headRead = undefined;
    if (reply !== undefined && reply.writeConcernError === undefined) {
      const collided = reply.writeErrors?.some(({ code }) => code === DUPLICATE_KEY);
      push([`block ${height} of ${who} ${collided ? 'is refused' : 'lands'}`], at, end);
      push(
        collided
          ? // The model tells blocks by what they hold: one that another worker has sealed alike is not missing.
            [`${who} sees its block refused`, `${who} gets no reply for its block`]
          : [`${who} has sealed${concernOf(body)}`],
        at,
        end,
      );
      return;
    }
    const fates = ['lands', 'is refused', 'is lost'].map((fate) => `block ${height} of ${who} ${fate}`);
    const to = Number.POSITIVE_INFINITY;
    trace.steps.push({ lane: `${who} block ${sent++}`, labels: fates, from: at, to, required: false });
    if (Number.isFinite(end)) push([`${who} gets no reply for its block`], at, end);
  }

  return {
    command(command: Started, at: number, ended: Ended): void {
      const { name, body } = command;
      const target = `${name} ${String(body[name])}`;
      if (target === 'aggregate plants' || target === 'createIndexes plants') return;
      if (/^(?:listIndexes|createIndexes) /.test(target)) return;
      if (/^find (?:plants|audit_blocks)$/.test(target)) reads(command, at, ended);
      else if (target === 'insert plant_search') indexes(command, at, ended);
      else if (target === 'aggregate plant_search') {
        if (ended.reply !== undefined) push([`${who} has indexed`], at, ended.at);
      } else if (target === 'insert audit_blocks') seals(command, at, ended);
      else if (target === 'update plants') {
        const label = ended.reply?.nModified === 0 ? 'has nothing to clear' : 'clears';
        push([`${who} ${label}${onlyByPlant(body)}`], at, ended.at, ended.reply !== undefined);
      } else throw new Error(`the model has no step for the command: ${target}`);
    },
    job(event: 'active' | 'completed' | 'failed' | 'stalled' | 'retried', number: number, at: number): void {
      if (event === 'active') {
        ends(at);
        push([`${who} takes ${number}`], since, at);
        job = number;
        toRead = true;
      } else if (event === 'completed') {
        push([`${who} completes`], since, at);
        job = undefined;
      } else if (event === 'failed') {
        push([`${who} fails, the job is failed`, `${who} completes`, `${who} crashes`], since, at);
        job = undefined;
      }
    },
    killed(at: number): void {
      push([`${who} crashes`], at, at, job !== undefined);
      job = undefined;
      headRead = undefined;
    },
    over: ends,
  };
}

/** Empty for a journaled majority; else what the model has no name for. */
function concernOf({ writeConcern }: BSON.Document): string {
  const { w, j } = (writeConcern ?? {}) as { w?: unknown; j?: unknown };
  return w === MAJORITY.w && j === MAJORITY.j ? '' : ` with write concern ${w}`;
}

/** The model clears plants, never a whole commit. */
function onlyByPlant(body: BSON.Document): string {
  const [update] = body['updates'] as { q: BSON.Document }[];
  return update !== undefined && '_id' in update.q ? '' : ' a whole commit';
}
