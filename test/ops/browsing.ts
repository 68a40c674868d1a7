import type { Browser, BrowserContext, Page } from 'playwright-core';
import { waitFor } from '../harness/wait-for.ts';

/** Any step a person would wait for. */
const STEP_MS_MAX = 20_000;

export type Browsing = AsyncDisposable & {
  context: BrowserContext;
  page: Page;
  /** What the browser complained about: errors, policy violations, requests that left the console. */
  complaints: string[];
};

/** A page of its own browser session, signed in to the console. */
export async function browse(
  browser: Browser,
  { url }: { url: string },
  { name, password }: { name: string; password: string },
): Promise<Browsing> {
  const context = await browser.newContext({ acceptDownloads: true });
  const page = await context.newPage();
  page.setDefaultTimeout(STEP_MS_MAX);
  const complaints: string[] = [];
  page.on('console', (line) => {
    if (line.type() === 'error') complaints.push(line.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (request) => {
    if (!request.url().startsWith(`${url}/`) && !request.url().startsWith('data:'))
      complaints.push(request.url());
  });
  await page.goto(url);
  await page.fill('[name=name]', name);
  await page.fill('[name=password]', password);
  await page.click('button');
  await page.waitForURL(`${url}/`);
  return { context, page, complaints, [Symbol.asyncDispose]: () => context.close() };
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
