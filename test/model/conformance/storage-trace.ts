import type { BSON } from 'mongodb';
import type { Recorded, RecordedStep, Reply } from './recorded.ts';
import type { TracedStep } from './replay.ts';

type Started = Extract<RecordedStep, { phase: 'started'; kind: 'command' }>;

/**
 * The steps of a recording in the words of the storage model: two clients contend for one id, `client 0` through the
 * process `api-0` and `client 1` through `api-1`. A plant's name is `client 0` or `client 1`.
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
  if (body[name] !== 'plants') return false;
  if (name === 'insert') return (body['documents'] as { _id: bigint }[]).some(({ _id }) => _id === id);
  return name === 'find' && (body['filter'] as { _id: { $in: bigint[] } })._id.$in.includes(id);
}

function clientTrace(client: number, steps: TracedStep[]) {
  let since = 0;
  let isUnderWay = false;
  let sent = false;
  let acknowledged = false;
  const push = (label: string, from: number, to: number, required = true) => {
    steps.push({ lane: `client ${client}`, labels: [label], from, to, required });
    if (Number.isFinite(to)) since = to;
  };

  function inserts({ body }: Started, at: number, end: number, reply: Reply | undefined, id: bigint): void {
    sent = true;
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
      else acknowledged = true;
    }
  }

  function reads({ body }: Started, at: number, end: number, reply: Reply | undefined): void {
    if (!sent) push(`${client} reads first`, at, at);
    sent = true;
    if (reply === undefined) return;
    const level = (body['readConcern'] as { level?: string } | undefined)?.level;
    const how = level === 'majority' ? '' : ` with read concern ${level}`;
    const [found] = (reply.cursor?.firstBatch ?? []) as BSON.Document[];
    if (found === undefined) push(`${client} finds nothing${how} (*`, at, end, false);
    else if (found['name'] === `client ${client}`) push(`${client} finds its own${how} (*`, at, end);
    else push(`${client} finds another${how} (*`, at, end);
  }

  return {
    sends(at: number): void {
      push(`client ${client} sends`, at, at);
      isUnderWay = true;
      sent = false;
      acknowledged = false;
    },
    command(step: Started, at: number, end: number, reply: Reply | undefined, id: bigint): void {
      if (step.name === 'insert') inserts(step, at, end, reply, id);
      else reads(step, at, end, reply);
    },
    answered(answer: number, at: number): void {
      isUnderWay = false;
      if (answer === 5002) push(`${client} runs out of time, 5002`, since, at);
      else if (answer === 5001) push(`the API of ${client} crashes`, since, at);
      else if (acknowledged) push(`${client} is acknowledged, ${answer}`, since, at);
    },
    killed(at: number): void {
      if (isUnderWay) push(`the API of ${client} crashes`, at, at);
      isUnderWay = false;
    },
  };
}
