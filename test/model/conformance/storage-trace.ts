import type { BSON } from 'mongodb';
import { apiCommand } from './api-command.ts';
import type { Recorded, RecordedStep, Reply } from './recorded.ts';
import type { TracedStep } from './replay.ts';

type Started = Extract<RecordedStep, { phase: 'started'; kind: 'command' }>;

/**
 * The steps of a recording in the words of the storage model: two clients contend for one id, `client 0` through the
 * process `api-0` and `client 1` through `api-1`. A plant's name is `client 0` or `client 1`.
 *
 * Every answer is part of a step: of the acknowledgement, of the read that found a plant, or of the end of the time. A
 * 5001 says that nothing was sent, as if the request had ended before its insert; after an insert it has no name.
 */
export function storageTrace(recorded: readonly Recorded[], id: bigint): TracedStep[] {
  const steps: TracedStep[] = [];
  const clients = [0, 1].map((client) => clientTrace(client, steps));
  for (const [at, step] of recorded.entries()) {
    if (step.kind === 'client sends') clients[step.client]?.sends(at);
    else if (step.kind === 'client is answered') clients[step.client]?.answered(step.answer, at);
    else if (step.kind === 'killed') clients[Number(step.process.at(-1))]?.killed(at);
    else if (step.kind === 'fault ended') {
      steps.push({ lane: `fault at ${at}`, labels: ['failover*'], from: at, to: at, required: false });
    } else if (!step.who.startsWith('api-')) {
      // What workers do after the plant is stored is the events model's.
    } else if (step.kind === 'command' && step.phase === 'started' && isAbout(step, id)) {
      clients[Number(step.who.at(-1))]?.command(step, at, ...endOf(recorded, at, step, id), id);
    }
  }
  return steps;
}

/** Where a command ends for the replica that sent it, and with what: it may have given it up before the reply came. */
function endOf(
  recorded: readonly Recorded[],
  at: number,
  { who, id: command }: Started & { who: string },
  id: bigint,
): [number, Reply | undefined] {
  for (let line = at + 1; line < recorded.length; line++) {
    const step = recorded[line] as Recorded;
    if (step.kind === 'client is answered' && step.client === Number(who.at(-1))) return [line, undefined];
    if (step.kind !== 'command' || step.who !== who) continue;
    if (step.phase === 'started') {
      if (isAbout(step, id)) return [line, undefined];
    } else if (step.id === command)
      return [line, step.phase === 'replied' ? (step.reply as Reply) : undefined];
  }
  return [Number.POSITIVE_INFINITY, undefined];
}

function isAbout({ name, body }: Started, id: bigint): boolean {
  const command = apiCommand(name, body);
  if (command === 'insert') return (body['documents'] as { _id: bigint }[]).some(({ _id }) => _id === id);
  return (body['filter'] as { _id: { $in: bigint[] } })._id.$in.includes(id);
}

function clientTrace(client: number, steps: TracedStep[]) {
  let since = 0;
  let isUnderWay = false;
  let sent = false;
  let inserted = false;
  /** The read that found a plant: it ends the operation, so the model names it together with the answer. */
  let found: { what: string; from: number; to: number } | undefined;
  const push = (labels: string | readonly string[], from: number, to: number, required = true) => {
    steps.push({ lane: `client ${client}`, labels: [labels].flat(), from, to, required });
    if (Number.isFinite(to)) since = to;
  };

  function inserts({ body }: Started, at: number, end: number, reply: Reply | undefined, id: bigint): void {
    sent = true;
    inserted = true;
    const index = (body['documents'] as { _id: bigint }[]).findIndex(({ _id }) => _id === id);
    const { w, j } = body['writeConcern'] as { w: unknown; j: unknown };
    const concern = w === 'majority' && j === true ? '' : ` with write concern ${w}`;
    if (reply === undefined) {
      push(`${client} inserts, no reply`, at, end, Number.isFinite(end));
    } else if (reply.writeErrors?.some((error) => error.index === index)) {
      push(`${client} meets a duplicate key (*`, at, end);
    } else {
      push(`${client} inserts${concern}`, at, end);
      if (reply.writeConcernError !== undefined) push(`${client} meets an error`, at, end);
    }
  }

  function reads({ body }: Started, at: number, end: number, reply: Reply | undefined): void {
    if (!sent) push(`${client} reads first`, at, at);
    sent = true;
    if (reply === undefined) return;
    const level = (body['readConcern'] as { level?: string } | undefined)?.level;
    const how = level === 'majority' ? '' : ` with read concern ${level}`;
    const [plant] = (reply.cursor?.firstBatch ?? []) as BSON.Document[];
    if (plant === undefined) push(`${client} finds nothing${how} (*`, at, end, false);
    else {
      const whose = plant['name'] === `client ${client}` ? 'its own' : 'another';
      found = { what: `finds ${whose}${how}`, from: at, to: end };
    }
  }

  return {
    sends(at: number): void {
      push(`client ${client} sends`, at, at);
      isUnderWay = true;
      sent = false;
      inserted = false;
      found = undefined;
    },
    command(step: Started, at: number, end: number, reply: Reply | undefined, id: bigint): void {
      if (found !== undefined) push(`${client} ${found.what}, goes on`, found.from, found.to);
      found = undefined;
      if (step.name === 'insert') inserts(step, at, end, reply, id);
      else reads(step, at, end, reply);
    },
    answered(answer: number, at: number): void {
      isUnderWay = false;
      if (answer === 5002) push(`${client} runs out of time, 5002`, since, at);
      else if (found !== undefined) {
        const { what, from, to } = found;
        push(
          ['primary', 'old primary'].map((where) => `${client} ${what} (${where}), ${answer}`),
          from,
          to,
        );
      } else if (answer === 5001 && !inserted) push(`the API of ${client} crashes`, since, at);
      else push(`${client} is acknowledged, ${answer}`, since, at);
      found = undefined;
    },
    killed(at: number): void {
      if (isUnderWay) push(`the API of ${client} crashes`, at, at);
      isUnderWay = false;
      found = undefined;
    },
  };
}
