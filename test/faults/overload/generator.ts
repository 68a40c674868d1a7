/** `node generator.ts '{"url":…}'`: offers an open load; the report as one line of JSON on standard output. */
import { setTimeout as pause } from 'node:timers/promises';
import { type HttpConnection, openConnection } from '../../bench/load/http-connection.ts';
import type { OpenLoad, OpenReport } from './open-load.ts';

const TICK_MS = 1;
const LATE_MS = 100;
/** Connections opened before the load begins, and at most: beyond them, a create waits for a free one. */
const CONNECTIONS = 512;
const CONNECTIONS_MAX = 4_096;

const load = JSON.parse(process.argv[2] as string) as OpenLoad;
const { rate, seconds, settleSeconds, firstId } = load;
const total = Math.floor(rate * seconds);

const accepted: number[] = [];
const refused: number[] = [];
const others: Record<string, number> = {};
const counts = {
  created: 0,
  unknown: 0,
  refused: 0,
  inTime: 0,
  answered: 0,
  good: 0,
  withoutRetryAfter: 0,
  broken: 0,
};
const due: number[] = [];
let sent = 0;

const open = () => openConnection(new URL(load.url), '/plants', `Bearer ${load.token}`);
const free: HttpConnection[] = await Promise.all(Array.from({ length: CONNECTIONS }, open));
const all = new Set(free);
let opening = 0;

const cpuAtStart = process.cpuUsage();
const start = performance.now();
const judgedFrom = start + settleSeconds * 1_000;
const judgedUntil = start + seconds * 1_000;
while (counts.answered < total) {
  const now = performance.now();
  while (due.length < total) {
    const time = start + (due.length / rate) * 1_000;
    if (time > now) break;
    due.push(time);
  }
  sendAllDue();
  await pause(TICK_MS);
}
for (const connection of all) connection.close();

const { user, system } = process.cpuUsage(cpuAtStart);
const ended = performance.now();
const report: OpenReport = {
  offered: counts.inTime / (rate * (seconds - settleSeconds)),
  created: counts.created,
  unknown: counts.unknown,
  goodput: counts.good / (seconds - settleSeconds),
  refused: counts.refused,
  others,
  withoutRetryAfter: counts.withoutRetryAfter,
  broken: counts.broken,
  acceptedP50Ms: percentile(accepted, 0.5),
  acceptedP99Ms: percentile(accepted, 0.99),
  refusedP99Ms: percentile(refused, 0.99),
  refusedMaxMs: percentile(refused, 1),
  cpu: (user + system) / 1_000 / (ended - start),
};
process.stdout.write(`${JSON.stringify(report)}\n`);

function sendAllDue(): void {
  while (sent < due.length) {
    // The one that has been free for longest: the API closes connections that stay silent for seconds.
    const connection = free.shift();
    if (connection === undefined) break;
    send(connection, sent++);
  }
  openMore();
}

/** A connection that breaks is replaced. */
function openMore(): void {
  const missing = due.length - sent - opening;
  for (let count = 0; count < missing && all.size + opening < CONNECTIONS_MAX; count++) {
    opening++;
    void open().then(
      (connection) => {
        opening--;
        all.add(connection);
        free.push(connection);
        sendAllDue();
      },
      () => {
        opening--;
      },
    );
  }
}

function send(connection: HttpConnection, number: number): void {
  const time = due[number] as number;
  if (time >= judgedFrom && performance.now() - time <= LATE_MS) counts.inTime++;
  const id = firstId + number;
  connection.post(`{"id":${id},"name":"Plant ${id}","tag":"overload"}`, (status, answer) => {
    counts.answered++;
    if (status === undefined) {
      counts.broken++;
      all.delete(connection);
    } else {
      free.push(connection);
    }
    const text = answer?.toString('latin1') ?? '';
    const error = /"error":(\d+)/.exec(text)?.[1];
    if (status === 200) counts.created++;
    if (error === '5002') counts.unknown++;
    const now = performance.now();
    if (status === 200 && now >= judgedFrom && now < judgedUntil) counts.good++;
    if (status !== 200 && status !== undefined) refusal(`${status} ${error}`, text);
    if (time < judgedFrom) return;
    if (status === 200) accepted.push(now - time);
    else if (error === '5001') refused.push(now - time);
  });
}

function refusal(kind: string, answer: string): void {
  if (kind.startsWith('503') && !/\r\nretry-after: *[1-9]/i.test(answer)) counts.withoutRetryAfter++;
  if (kind === '503 5001') counts.refused++;
  else others[kind] = (others[kind] ?? 0) + 1;
}

function percentile(values: number[], share: number): number {
  values.sort((a, b) => a - b);
  return values[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0;
}
