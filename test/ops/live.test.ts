import { OPERATORS_CHAIN } from '@plant-store/audit/ledger/audit-block';
import { AUDIT_BLOCKS } from '@plant-store/contracts/plant-document';
import { VERSION } from '@plant-store/platform/process/version';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freshId, postPlant } from '../harness/api/post-plant.ts';
import { type Program, startProgram } from '../harness/processes/program.ts';
import { testEnvironment } from '../harness/servers/servers.ts';
import { underLoadMs, waitFor } from '../harness/wait-for.ts';
import { type LiveStream, openLive } from './live-stream.ts';
import { operator, type RunningConsole, startConsole, viewer } from './running-console.ts';
import { signedIn, type Visitor, visit } from './visitor.ts';

const servers = testEnvironment();
const STREAMS_MAX = 100;
const SESSION_STREAMS_MAX = 10;

/** Lets the clocks of the process go on by longer than a session lasts. */
const elevenHoursAtSignal = `
  let ahead = 0;
  process.on('SIGWINCH', () => { ahead = 11 * 3600 * 1000; });
  const [date, monotonic] = [Date.now, performance.now.bind(performance)];
  Date.now = () => date() + ahead;
  performance.now = () => monotonic() + ahead;
`;

let ops: RunningConsole;
let vera: Visitor;
beforeAll(async () => {
  ops = await startConsole(servers);
  vera = await signedIn(ops, viewer);
});
afterAll(async () => {
  await ops?.close();
});

test('a page gets the samples so far at once and then each new one, with the status in words and the events', async () => {
  await using stream = await openLive(ops, vera);
  expect(stream).toMatchObject({ status: 200, type: 'text/event-stream' });
  await messages(stream, 3);
  const [first] = stream.messages;
  expect(first?.samples.at.length).toBeGreaterThan(0);
  expect(first?.events).toContainEqual(expect.objectContaining({ kindText: 'Process' }));
  const times = stream.messages.flatMap(({ samples }) => samples.at);
  expect(times).toEqual([...new Set(times)].sort((a, b) => a - b));
  expect(stream.messages.at(-1)).toMatchObject({
    id: times.at(-1),
    status: { verdict: { headline: expect.any(String) } },
  });
});

test('a page that comes back gets only what it missed', async () => {
  await using before = await openLive(ops, vera);
  await messages(before, 2);
  before.close();
  const last = before.messages.at(-1)?.id ?? 0;
  await using after = await openLive(ops, vera, last);
  await messages(after, 2);
  const times = after.messages.flatMap(({ samples }) => samples.at);
  expect(Math.min(...times)).toBeGreaterThan(last);
});

test('nobody gets it without signing in', async () => {
  const nobody = await openLive(ops, visit(ops));
  expect(nobody.status).toBe(401);
});

test('signing out ends the streams of that session, and no other', async () => {
  const olga = await signedIn(ops, operator);
  await using tab = await openLive(ops, olga);
  await using otherTab = await openLive(ops, olga);
  await using other = await openLive(ops, vera);
  await messages(tab, 1);
  await olga.see('/sign-out', { method: 'POST' });
  await Promise.all([tab.ended, otherTab.ended]);
  expect([tab.signedOut(), otherTab.signedOut()]).toEqual([true, true]);
  const before = other.messages.length;
  await messages(other, before + 2);
  expect(other.signedOut()).toBe(false);
});

test('the stream of a session that is over its age ends', async () => {
  const aged = await startConsole({
    ...servers,
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(elevenHoursAtSignal)}`,
  });
  try {
    await using stream = await openLive(aged, await signedIn(aged, viewer));
    await messages(stream, 1);
    process.kill(aged.pid, 'SIGWINCH');
    await stream.ended;
    expect(stream.signedOut()).toBe(true);
  } finally {
    await aged.close();
  }
});

test('streams are bounded in number, of one session and of all, and one that ends makes room', async () => {
  const crowded = await startConsole({ ...servers, TRUSTED_PROXIES: '127.0.0.0/8' });
  const streams: LiveStream[] = [];
  try {
    for (let session = 1; streams.length < STREAMS_MAX; session++) {
      const visitor = await signedInFrom(crowded, `192.0.2.${session}`);
      const own = Array.from({ length: SESSION_STREAMS_MAX }, () => openLive(crowded, visitor));
      streams.push(...(await Promise.all(own)));
      expect((await openLive(crowded, visitor)).status).toBe(503);
    }
    expect(streams.filter(({ status }) => status !== 200)).toEqual([]);
    const late = await signedInFrom(crowded, '192.0.2.200');
    expect((await openLive(crowded, late)).status).toBe(503);
    streams[0]?.close();
    await waitFor(
      async () => {
        await using next = await openLive(crowded, late);
        return next.status === 200;
      },
      { withinMs: 10_000, what: 'a stream after one has ended' },
    );
  } finally {
    for (const { close } of streams) close();
    await crowded.close();
  }
});

test('on SIGTERM the streams end, and the console does not wait for them', async () => {
  const draining = await startConsole(servers);
  await using stream = await openLive(draining, await signedIn(draining, viewer));
  await messages(stream, 1);
  const signalled = performance.now();
  process.kill(draining.pid, 'SIGTERM');
  await stream.ended;
  expect(await draining.ended).toBe(0);
  expect(performance.now() - signalled).toBeLessThan(underLoadMs(4_000));
});

test('what API and worker do is measured by answer, duration and size, and their starts and ends are events', async () => {
  await using stream = await openLive(ops, vera);
  const programs: Program[] = [];
  try {
    const api = await startProgram('api', { ...servers, INSTANCE: 'api-rose', DRAIN_MS: '0' });
    programs.push(api);
    const worker = await startProgram('worker', { ...servers, INSTANCE: 'worker-rose' });
    programs.push(worker);
    const id = freshId();
    let unavailable = 0;
    // On a busy machine some are still under way when the API stops, and some may fail before.
    const counted = (sending: ReturnType<typeof postPlant>) =>
      sending
        .then(({ status }) => {
          if (status >= 500) unavailable++;
        })
        .catch(() => {});
    const sent = setInterval(() => {
      void counted(postPlant(api.url, { id: freshId(), name: 'rose' }));
      void counted(postPlant(api.url, { id, name: 'rose' }));
      void counted(postPlant(api.url, { id, name: 'rose' }, { accessToken: 'none' }));
      void fetch(`${api.url}/elsewhere`)
        .then((answer) => answer.body?.cancel())
        .catch(() => {});
    }, 100);
    try {
      for (const series of ['stored', 'refused', 'denied', 'others']) {
        await stream.until(series, (values) => values.some((value) => value > 1 && value < 50));
      }
      await stream.until('latency-p99', (values) => values.some((value) => value > 0 && value < 5_000));
      await stream.until('commit-mean', (values) => values.some((value) => value >= 1 && value < 20));
      await stream.until('index-p99', (values) => values.some((value) => value > 0));
      await stream.until('audit-p99', (values) => values.some((value) => value > 0));
    } finally {
      clearInterval(sent);
    }
    await stream.until('workers', (values) => values.at(-1) === 1);
    await stream.until('replicas', (values) => values.at(-1) === 1);
    // Reports come every 2 s: a rate per second is below the number.
    expect(Math.max(0, ...stream.values('unavailable'))).toBeLessThanOrEqual(unavailable);
    await api.stop();
    await stream.until('replicas', (values) => values.at(-1) === 0);
    const texts = () => stream.events().map(({ text }) => text);
    await waitFor(() => texts().includes('api-rose shut down'), {
      withinMs: 10_000,
      what: 'the end is an event',
    });
    expect(texts()).toContain(`api-rose started, version ${VERSION}`);
    expect(texts()).toContain(`worker-rose started, version ${VERSION}`);
  } finally {
    for (const program of programs) await program.stop();
  }
});

test('a pause and who began it are events, and the pause ends with the next control', async () => {
  const olga = await signedIn(ops, operator);
  await using stream = await openLive(ops, vera);
  const act = (control: string, fields: Record<string, string>) =>
    olga.call(`/controls/${control}`, { method: 'POST', body: new URLSearchParams(fields) });
  const event = (isSo: (event: ReturnType<LiveStream['events']>[number]) => boolean) =>
    waitFor(() => stream.events().some(isSo), { withinMs: 20_000, what: 'the event' });
  expect((await act('pause', { minutes: '5', reason: 'a leak' })).status).toBe(303);
  await event(({ kind, until, lasted }) => kind === 'pause' && until === null && lasted === 'goes on');
  await event(({ kind, text }) => kind === 'action' && text.startsWith('olga: ') && text.endsWith('a leak'));
  await act('resume', { reason: 'mended' });
  await event(({ kind, lasted }) => kind === 'pause' && lasted.startsWith('for '));
});

test('a block that has not the format is logged, and the console goes on', async () => {
  await using mongo = new MongoClient(servers.MONGODB_URL);
  const blocks = mongo.db().collection(AUDIT_BLOCKS);
  const { insertedId } = await blocks.insertOne({
    chain: OPERATORS_CHAIN,
    height: 1_000_000,
    entries: [null],
    time: new Date(),
  });
  try {
    const shown = 'the newest actions of operators cannot be shown';
    await waitFor(() => ops.log().some(({ msg }) => msg === shown), {
      withinMs: 20_000,
      what: 'the log tells why actions are not shown',
    });
    await using stream = await openLive(ops, vera);
    await messages(stream, 2);
  } finally {
    await blocks.deleteOne({ _id: insertedId });
  }
});

/** Each from an address of its own, since sign-ins are limited by address. */
async function signedInFrom(console_: RunningConsole, address: string): Promise<Visitor> {
  const visitor = visit(console_);
  expect((await visitor.signIn(viewer, { 'x-forwarded-for': address })).status).toBe(303);
  return visitor;
}

async function messages(stream: LiveStream, count: number): Promise<void> {
  await waitFor(() => stream.messages.length >= count, { withinMs: 20_000, what: `message ${count}` });
}
