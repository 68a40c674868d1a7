import { mkdtempSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { freshId, postPlant } from '../harness/api/post-plant.ts';
import { type Program, startProgram } from '../harness/processes/program.ts';
import { testEnvironment } from '../harness/servers/servers.ts';
import { waitFor } from '../harness/wait-for.ts';
import { installedChromium, startChromium } from './chromium.ts';
import { openPage, reads, signIn } from './console-browser.ts';
import { openLive } from './live-stream.ts';
import { operator, type RunningConsole, startConsole, viewer } from './running-console.ts';
import { signedIn, type Visitor } from './visitor.ts';

const root = resolve(import.meta.dirname, '../..');
/** `npm run screenshots` writes those of docs, after minutes in which something happens. */
const isPublishing = process.env['SCREENSHOTS'] === 'publish';
const directory = isPublishing
  ? join(root, 'docs/screenshots')
  : mkdtempSync(join(tmpdir(), 'plant-store-screenshots-'));
const SCREENSHOT_BYTES_MAX = 250_000;
const PLOTS_MOVE_MS_MAX = 30_000;

vi.setConfig({ testTimeout: isPublishing ? 600_000 : 180_000 });

const servers = testEnvironment();

let ops: RunningConsole;
let browser: Browser;
let api: Program;
let worker: Program;
let olga: Visitor;

describe.skipIf(installedChromium === undefined)('the plots', () => {
  beforeAll(async () => {
    ops = await startConsole(servers);
    browser = await startChromium();
    olga = await signedIn(ops, operator);
    api = await startProgram('api', { ...servers, INSTANCE: 'api-1', DRAIN_MS: '0' });
    worker = await startProgram('worker', { ...servers, INSTANCE: 'worker-1' });
  });
  afterAll(async () => {
    await browser?.close();
    await ops?.close();
    await api?.stop();
    await worker?.stop();
  });

  test('move under load, and the title, the findings and the timeline tell what happens', async () => {
    await using visit = await openPage(browser, ops);
    const { page, complaints } = visit;
    await signIn(page, ops, viewer);
    await title(page, '✓ All is well · Plant Store');
    const before = await drawing(page, 'creates');
    await using _load = startLoad(api.url, 2);
    await waitFor(async () => (await shown(page, 'stored')) > 0 && (await shown(page, 'latency-p99')) > 0, {
      withinMs: PLOTS_MOVE_MS_MAX,
      what: 'the figures show the load',
    });
    for (const plot of ['creates', 'latency', 'commits', 'lag']) {
      const now = await drawing(page, plot);
      expect(now, plot).not.toBe(before);
      await waitFor(async () => (await drawing(page, plot)) !== now, {
        withinMs: PLOTS_MOVE_MS_MAX,
        what: `the plot ${plot} moves`,
      });
    }

    await act('pause', { minutes: '5', reason: 'a look at the queue' });
    await title(page, '⚠ The queue is paused · Plant Store');
    await page.locator('[data-key="queue-paused"]').waitFor();
    await page.locator('[data-timeline]').getByText('a look at the queue').waitFor();
    await act('resume', { reason: 'seen' });
    await title(page, '✓ All is well · Plant Store');
    await page.locator('[data-key="queue-paused"]').waitFor({ state: 'detached' });
    expect(complaints).toEqual([]);
  });

  test('show the figures at the time that the pointer is at, in all of them', async () => {
    await using visit = await openPage(browser, ops);
    const { page } = visit;
    await signIn(page, ops, viewer);
    await reads(page, '[data-pointed]', 'now');
    const plot = page.locator('[data-plot=creates] .u-over');
    await waitFor(async () => (await plot.count()) === 1, {
      withinMs: PLOTS_MOVE_MS_MAX,
      what: 'it is drawn',
    });
    const box = await plot.boundingBox();
    if (box === null) throw new Error('the plot is not on the page');
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await reads(page, '[data-pointed]', /^\d\d:\d\d:\d\d UTC$/);
    await page.mouse.move(0, 0);
    await reads(page, '[data-pointed]', 'now');
  });

  test('a hidden tab holds no stream and keeps its title, and shows what it missed when it is seen again', async () => {
    await using visit = await openPage(browser, ops);
    const { page } = visit;
    const streams: URL[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/live')) streams.push(new URL(request.url()));
    });
    await signIn(page, ops, viewer);
    await reads(page, '[data-freshness]', /^Live/);
    const asked = streams.length;
    const { time, samples } = await hidden(page, true);
    await act('pause', { minutes: '5', reason: 'while nobody looks' });
    await waitFor(async () => (await page.title()).startsWith('⚠'), {
      withinMs: 40_000,
      what: 'the title of the hidden tab',
    });
    expect(streams).toHaveLength(asked);
    expect((await hidden(page, true)).samples).toBe(samples);

    await using stream = await openLive(ops, olga, time);
    await waitFor(() => stream.messages.length > 0, { withinMs: 20_000, what: 'what was missed so far' });
    const missed = stream.messages[0]?.samples.at.length ?? 0;
    expect(missed).toBeGreaterThan(0);
    await hidden(page, false);
    await page.locator('[data-timeline]').getByText('while nobody looks').waitFor();
    expect(Number(streams.at(-1)?.searchParams.get('after'))).toBeGreaterThanOrEqual(time);
    const { samples: now } = await hidden(page, false);
    expect(now).toBeGreaterThanOrEqual(samples + missed);
    await act('resume', { reason: 'seen' });
  });

  test('what has the focus and what is selected stay so while the figures change', async () => {
    await using visit = await openPage(browser, ops);
    const { page } = visit;
    await act('pause', { minutes: '5', reason: 'a look at the page' });
    await signIn(page, ops, viewer);
    await page.locator('[data-key="queue-paused"] a').focus();
    await page.evaluate("getSelection().selectAllChildren(document.querySelector('[data-workers] th'))");
    const kept = () => page.evaluate('[document.activeElement.textContent, String(getSelection())]');
    for (let change = 0; change < 3; change++) {
      const before = await page.locator('[data-freshness]').innerText();
      await waitFor(async () => (await page.locator('[data-freshness]').innerText()) !== before, {
        withinMs: PLOTS_MOVE_MS_MAX,
        what: 'the page is refreshed',
      });
      expect(await kept()).toEqual(['Runbook', 'worker-1']);
    }
    await act('resume', { reason: 'seen' });
  });

  test('the screenshots that README shows can be made anew, and are small', async () => {
    await using load = startLoad(api.url, 2);
    if (isPublishing) await someMinutes(load);
    for (const [name, width, height, colorScheme, path] of [
      ['status-light', 1440, 1000, 'light', '/'],
      ['status-dark', 1440, 1000, 'dark', '/'],
      ['plots-dark', 1440, 1000, 'dark', '/plots'],
      ['status-phone', 360, 780, 'light', '/'],
    ] as const) {
      await using visit = await openPage(browser, ops, { viewport: { width, height }, colorScheme });
      const { page } = visit;
      await signIn(page, ops, operator);
      await page.goto(ops.url + path);
      await reads(page, '[data-freshness]', /^Live/);
      const file = join(directory, `${name}.png`);
      await page.screenshot({ path: file, fullPage: name !== 'status-phone' && isPublishing });
      expect(statSync(file).size, name).toBeLessThan(SCREENSHOT_BYTES_MAX);
    }
  });
});

async function act(control: string, fields: Record<string, string>): Promise<void> {
  const answer = await olga.call(`/controls/${control}`, {
    method: 'POST',
    body: new URLSearchParams(fields),
  });
  if (answer.status !== 303) throw new Error(`${control} was answered with ${answer.status}`);
}

async function title(page: Page, expected: string): Promise<void> {
  await waitFor(async () => (await page.title()) === expected, {
    withinMs: 20_000,
    what: `the title ${expected}`,
  });
}

/** The number beside a series. */
async function shown(page: Page, series: string): Promise<number> {
  return Number.parseFloat(await page.locator(`[data-series="${series}"] [data-value]`).innerText()) || 0;
}

/** What a plot looks like. */
function drawing(page: Page, plot: string): Promise<string> {
  return page.evaluate(`document.querySelector('[data-plot="${plot}"] canvas')?.toDataURL() ?? ''`);
}

/** Hides the tab or shows it, as far as its scripts can tell, and says how many samples it has, up to which time. */
function hidden(page: Page, isHidden: boolean): Promise<{ time: number; samples: number }> {
  return page.evaluate(`(async () => {
    Object.defineProperty(document, 'visibilityState', {
      value: ${isHidden} ? 'hidden' : 'visible',
      configurable: true,
    });
    document.dispatchEvent(new Event('visibilitychange'));
    const script = document.querySelector('script[type=module]').src;
    const { newestSample, sampleCount } = await import(new URL('./plots.js', script));
    return { time: newestSample(), samples: sampleCount() };
  })()`);
}

type Load = AsyncDisposable & { clients: (count: number) => void };

/** Clients that create one plant after the other, sometimes one that exists. */
function startLoad(url: string, clients: number): Load {
  let wanted = clients;
  let running = 0;
  let going = true;
  const known = freshId();
  async function client(): Promise<void> {
    running++;
    while (going && running <= wanted) {
      await postPlant(url, { id: Math.random() < 0.05 ? known : freshId(), name: 'rose' }).catch(() =>
        pause(50),
      );
    }
    running--;
  }
  const started: Promise<void>[] = [];
  const start = () => {
    for (let missing = wanted - running; missing > 0; missing--) started.push(client());
  };
  start();
  return {
    clients: (count) => {
      wanted = count;
      start();
    },
    async [Symbol.asyncDispose]() {
      going = false;
      await Promise.all(started);
    },
  };
}

/** For the published screenshots: load that changes, a worker that is killed, and a pause. */
async function someMinutes(load: Load): Promise<void> {
  for (let step = 0; step < 18; step++) {
    load.clients(2 + Math.round(6 * Math.abs(Math.sin(step / 5))));
    if (step === 5) await act('pause', { minutes: '5', reason: 'index rebuilt' });
    if (step === 8) await act('resume', { reason: 'index is back' });
    if (step === 12) {
      worker.signal('SIGKILL');
      await worker.ended;
      worker = await startProgram('worker', { ...servers, INSTANCE: 'worker-1' });
    }
    await pause(4_000);
  }
}
