import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testDatabase, testQueue } from '../harness/servers/servers.ts';
import { waitFor } from '../harness/wait-for.ts';
import { installedChromium, startChromium } from './chromium.ts';
import { openPage, overflow, reads, signIn } from './console-browser.ts';
import { openQueue } from './creation-queue.ts';
import { operator, type RunningConsole, startConsole, viewer } from './running-console.ts';

const database = testDatabase();
const redis = testQueue();

/** What the board of an operator offers for failed jobs. */
const boardActions = ['Retry all', 'Clean all'];

let ops: RunningConsole;
let queue: ReturnType<typeof openQueue>;
let browser: Browser;

describe.skipIf(installedChromium === undefined)('in a browser', () => {
  beforeAll(async () => {
    queue = openQueue(redis);
    ops = await startConsole({ MONGODB_URL: database.url, REDIS_URL: redis.url, QUEUE_PREFIX: redis.prefix });
    browser = await startChromium();
  });
  afterAll(async () => {
    await browser?.close();
    await ops?.close();
    await queue?.close();
  });

  test('an operator signs in, sees the status refresh itself, retries a failed job and signs out', async () => {
    const job = await queue.failedJob('1'.repeat(24));
    await using visit = await opened();
    const { page, complaints } = visit;
    await signIn(page, ops, operator);
    await reads(page, 'h1', 'No worker is connected');
    await reads(page, '[data-fact=failed] [data-text]', '1');

    await queue.queue.add('plants.created', { version: 1, commit: '2'.repeat(24), plants: 1 });
    await reads(page, '[data-fact=waiting] [data-text]', '1');
    await waitFor(async () => (await page.locator('[data-freshness]').innerText()).startsWith('Live'), {
      withinMs: 5_000,
      what: 'the page is live',
    });

    await page.click('[data-fact=failed]');
    await page.waitForURL('**/board/queue/plant-creations?status=failed');
    await page.getByText('no such shelf').first().waitFor();

    await page.goto(ops.url);
    await page.getByRole('link', { name: 'Controls' }).click();
    await page.getByRole('link', { name: 'Retry failed jobs' }).click();
    await page.getByLabel('Only jobs whose reason contains').fill('shelf');
    await page.getByRole('button', { name: 'Show what it would do' }).click();
    await page.getByText('1 failed job whose reason contains “shelf”').waitFor();
    await page.getByLabel('Reason', { exact: true }).fill('the shelf was built');
    await page.getByRole('button', { name: 'Retry failed jobs' }).click();
    await page.getByRole('cell', { name: 'the shelf was built' }).waitFor();
    await waitFor(async () => (await job.getState()) === 'waiting', {
      withinMs: 5_000,
      what: 'the job waits',
    });

    await page.goto(ops.url);
    await page.click('text=Sign out');
    await page.waitForURL('**/sign-in');
    expect(complaints).toEqual([]);
  });

  test('the board has nothing to act with', async () => {
    await queue.failedJob('3'.repeat(24));
    await using visit = await opened({ colorScheme: 'dark' });
    const { page, complaints } = visit;
    await signIn(page, ops, viewer);
    await page.goto(`${ops.url}/queue?status=failed`);
    await page.getByText('no such shelf').first().waitFor();
    expect(await page.getByText('read only').count()).toBe(1);
    for (const action of boardActions) {
      expect(await page.getByRole('button', { name: action }).count(), action).toBe(0);
    }
    expect(complaints).toEqual([]);
  });

  test('a wrong password is said beside the form, and the name is kept', async () => {
    await using visit = await opened();
    const { page } = visit;
    await page.goto(`${ops.url}/sign-in`);
    await page.fill('[name=name]', viewer.name);
    await page.fill('[name=password]', 'not-the-password');
    await page.click('button');
    expect(await page.getByRole('alert').innerText()).toBe('Name and password do not belong together.');
    expect(await page.inputValue('[name=name]')).toBe(viewer.name);
    expect(await page.inputValue('[name=password]')).toBe('');
  });

  test.each([
    ['desktop', 1280],
    ['phone', 360],
  ])('nothing on the pages is cut off or overflows at %s width', async (_device, width) => {
    await using visit = await opened({ viewport: { width, height: 800 } });
    const { page } = visit;
    await page.goto(ops.url);
    expect(await overflow(page)).toBe(0);
    await signIn(page, ops, operator);
    expect(await overflow(page)).toBe(0);
  });

  test('without scripts the status still tells', async () => {
    await using visit = await opened({ javaScriptEnabled: false });
    const { page } = visit;
    await signIn(page, ops, viewer);
    expect(await page.locator('h1').innerText()).toBe('No worker is connected');
  });

  test('a page left open tells when the console is gone, and goes to the sign-in page once another tab signs out', async () => {
    await using visit = await opened();
    const { page, context } = visit;
    await signIn(page, ops, viewer);
    process.kill(ops.pid, 'SIGSTOP');
    await reads(page, 'h1', 'The console does not answer');
    expect(await page.locator('[data-verdict]').getAttribute('data-level')).toBe('bad');
    process.kill(ops.pid, 'SIGCONT');
    await reads(page, 'h1', 'No worker is connected');
    const otherTab = await context.newPage();
    await otherTab.goto(ops.url);
    await otherTab.click('text=Sign out');
    await page.waitForURL('**/sign-in');
  });
});

const opened = (options: Parameters<Browser['newContext']>[0] = {}) => openPage(browser, ops, options);
