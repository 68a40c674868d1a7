/**
 * Generates load: `node generator.ts '{"url":…}'`, the report as one line of JSON on standard output.
 *
 * Its own, since nothing that package managers carry measures an open loop right at little cost: wrk and autocannon send
 * when an answer has come, and autocannon's correction is computed afterwards from the samples it did take. Here a create
 * is due at `start + n / rate`, waits when no connection is free, and its latency counts from when it was due.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { openConnection } from './http-connection.ts';
import type { Load, LoadReport } from './load.ts';

/** Between two looks at what is due: up to so much is added to a latency, the same for every system. */
const TICK_MS = 1;
/** A create that the generator itself took up so much after its time was not offered at its rate. */
const LATE_MS = 100;

const load = JSON.parse(process.argv[2] as string) as Load;
const { connections, seconds, firstId, rate, repeatEvery = 0, nameBytes = 0 } = load;

const latenciesMs: number[] = [];
const counts = { sent: 0, repeated: 0, created: 0, refused: 0, broken: 0, inTime: 0 };
let answeredMs = 0;
const open = await Promise.all(
  Array.from({ length: connections }, () =>
    openConnection(new URL(load.url), '/plants', `Bearer ${load.token}`),
  ),
);

const startedMs = Date.now();
const cpuAtStart = process.cpuUsage();
const start = performance.now();
const end = start + seconds * 1_000;
await (rate === undefined ? closedLoop() : openLoop(rate));
for (const connection of open) connection.close();

latenciesMs.sort((a, b) => a - b);
const { user, system } = process.cpuUsage(cpuAtStart);
const { repeated, created, refused, broken } = counts;
const report: LoadReport = {
  ...{ repeated, created, refused, broken, startedMs, answeredMs, seconds },
  p50Ms: percentile(0.5),
  p99Ms: percentile(0.99),
  cpuMs: (user + system) / 1_000,
  ...(rate !== undefined && { offered: counts.inTime / Math.floor(rate * seconds) }),
};
process.stdout.write(`${JSON.stringify(report)}\n`);

/** Each connection sends its next create when it has its answer. A connection that breaks voids all: it ends both loops. */
async function closedLoop(): Promise<void> {
  await Promise.all(
    open.map(async (_connection, index) => {
      while (performance.now() < end && counts.broken === 0) await send(index, performance.now());
    }),
  );
}

/** Creates are sent when they are due, or as soon as a connection is free. */
async function openLoop(perSecond: number): Promise<void> {
  const wanted = Math.floor(perSecond * seconds);
  // The one that has been free for longest is used next: the API closes connections that stay silent for seconds.
  const free = open.map((_connection, index) => index);
  const due: number[] = [];
  let next = 0;
  let answered = 0;
  const sendAllDue = () => {
    while (free.length > 0 && next < due.length) {
      const index = free.shift() as number;
      void send(index, due[next++] as number).then(() => {
        free.push(index);
        answered++;
        sendAllDue();
      });
    }
  };
  while (answered < wanted && counts.broken === 0) {
    const now = performance.now();
    while (due.length < wanted) {
      const time = start + (due.length / perSecond) * 1_000;
      if (time > now) break;
      due.push(time);
      if (now - time <= LATE_MS) counts.inTime++;
    }
    sendAllDue();
    await pause(TICK_MS);
  }
}

function send(index: number, due: number): Promise<void> {
  return new Promise((resolve) => {
    open[index]?.post(nextBody(), (status) => {
      if (status === 200) counts.created++;
      else if (status === undefined) counts.broken++;
      else counts.refused++;
      latenciesMs.push(performance.now() - due);
      answeredMs = Date.now();
      resolve();
    });
  });
}

function nextBody(): string {
  let number = counts.sent;
  if (repeatEvery > 0 && counts.sent > 1_000 && (counts.sent + counts.repeated) % repeatEvery === 0) {
    counts.repeated++;
    number = 1 + Math.floor(Math.random() * (counts.sent - 1_000));
  } else {
    number = ++counts.sent;
  }
  const short = `Plant ${number}`;
  const name = nameBytes === 0 ? short : short.padEnd(nameBytes, ' monstera').slice(0, nameBytes);
  return `{"id":${firstId + number},"name":"${name}","tag":"bench"}`;
}

function percentile(share: number): number {
  return latenciesMs[Math.min(latenciesMs.length - 1, Math.floor(latenciesMs.length * share))] ?? 0;
}
