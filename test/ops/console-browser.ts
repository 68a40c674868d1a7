import type { Browser, BrowserContext, Page } from 'playwright-core';
import { underLoadMs, waitFor } from '../harness/wait-for.ts';
import type { RunningConsole } from './running-console.ts';

/** Any step a person would wait for. */
const STEP_MS_MAX = 20_000;

export type OpenedPage = AsyncDisposable & {
  context: BrowserContext;
  page: Page;
  /** What the browser complained about: errors, policy violations, requests that failed or left the console. */
  complaints: string[];
};

/** A page of a browser that knows nothing of other pages, with everything it complains about. */
export async function openPage(
  browser: Browser,
  ops: Pick<RunningConsole, 'url'>,
  options: Parameters<Browser['newContext']>[0] = {},
): Promise<OpenedPage> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  page.setDefaultTimeout(underLoadMs(STEP_MS_MAX));
  const complaints: string[] = [];
  page.on('console', (line) => {
    if (line.type() === 'error' || line.type() === 'warning') complaints.push(line.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (request) => {
    if (!request.url().startsWith(`${ops.url}/`) && !request.url().startsWith('data:'))
      complaints.push(request.url());
  });
  return { context, page, complaints, [Symbol.asyncDispose]: () => context.close() };
}

/** Signs in on the sign-in page, where whoever is not signed in arrives. */
export async function signIn(
  page: Page,
  ops: Pick<RunningConsole, 'url'>,
  { name, password }: { name: string; password: string },
): Promise<void> {
  await page.goto(`${ops.url}/sign-in`);
  await page.fill('[name=name]', name);
  await page.fill('[name=password]', password);
  await page.click('button');
  await page.waitForURL(`${ops.url}/`);
}

/** A page of its own browser session, signed in to the console. */
export async function browse(
  browser: Browser,
  ops: Pick<RunningConsole, 'url'>,
  user: Parameters<typeof signIn>[2],
): Promise<OpenedPage> {
  const opened = await openPage(browser, ops);
  await signIn(opened.page, ops, user);
  return opened;
}

/** Waits until the page, loaded again and again, shows this text in the element. */
export async function untilShown(page: Page, selector: string, text: string | RegExp): Promise<void> {
  await waitFor(
    async () => {
      await page.reload();
      const shown = await page.locator(selector).first().innerText();
      return (
        (typeof text === 'string' ? shown.includes(text) : text.test(shown)) ||
        Promise.reject(new Error(shown))
      );
    },
    { withinMs: 15_000, what: `${selector} shows ${text}` },
  );
}

/** Waits until an element reads so. */
export async function reads(page: Page, selector: string, expected: string | RegExp): Promise<void> {
  const is = (text: string) => (typeof expected === 'string' ? text === expected : expected.test(text));
  await waitFor(async () => is(await page.locator(selector).first().innerText()), {
    withinMs: STEP_MS_MAX,
    what: `${selector} reads ${expected}`,
  });
}

/** By how many pixels the page is wider than its window. */
export function overflow(page: Page): Promise<number> {
  return page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
}
