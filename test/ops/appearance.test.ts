import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NAVIGATION } from '../../services/ops/src/pages/navigation.ts';
import { testEnvironment } from '../harness/servers/servers.ts';
import { installedChromium, startChromium } from './chromium.ts';
import { openPage, overflow, reads, signIn } from './console-browser.ts';
import { operator, type RunningConsole, startConsole } from './running-console.ts';

const servers = testEnvironment();
const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/** Bull Board's page and Swagger UI's, which are not the console's own. */
const foreign = ['/queue', '/api'];

/** Every page of the console's own. */
const pages = [
  ...NAVIGATION.map(({ href }) => href).filter((href) => !foreign.includes(href)),
  '/controls/pause',
  '/no-such-page',
];

type Violation = { id: string; nodes: { html: string; failureSummary: string }[] };

let ops: RunningConsole;
let browser: Browser;

describe.skipIf(installedChromium === undefined)('every page', () => {
  beforeAll(async () => {
    ops = await startConsole(servers);
    browser = await startChromium();
  });
  afterAll(async () => {
    await browser?.close();
    await ops?.close();
  });

  describe.each(['light', 'dark'] as const)('in the %s scheme', (colorScheme) => {
    test.each([
      ['phone', 360],
      ['desktop', 1280],
      ['wide screen', 2200],
    ])(
      'on a %s: axe finds nothing, nothing is cut off, and the browser has no complaint',
      async (_device, width) => {
        await using visit = await openPage(browser, ops, { colorScheme, viewport: { width, height: 900 } });
        const { page, complaints } = visit;
        await page.goto(`${ops.url}/sign-in`);
        expect(await violations(page)).toEqual([]);
        expect(await overflow(page)).toBe(0);
        await signIn(page, ops, operator);
        for (const path of pages) {
          await page.goto(ops.url + path);
          if (path === '/' || path === '/plots') await reads(page, '[data-freshness]', /^Live/);
          expect(await violations(page), path).toEqual([]);
          expect(await overflow(page), path).toBe(0);
          expect(await cutOff(page), path).toEqual([]);
        }
        // The browser itself says of the page that does not exist that it does not.
        expect(complaints.filter((text) => !text.includes('404'))).toEqual([]);
      },
    );
  });

  test('with the keyboard alone the content is reached at once, every stop is seen, and the slider points at a time', async () => {
    await using visit = await openPage(browser, ops, { viewport: { width: 1280, height: 900 } });
    const { page } = visit;
    await signIn(page, ops, operator);
    await page.goto(`${ops.url}/plots`);
    await reads(page, '[data-freshness]', /^Live/);

    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the content');
    expect(await page.evaluate('document.activeElement.getBoundingClientRect().top >= 0')).toBe(true);
    await page.keyboard.press('Enter');
    await page.waitForURL(/#main$/);
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.closest("main") !== null')).toBe(true);

    await page.goto(ops.url);
    const stops: string[] = [];
    for (let stop = 0; stop < 60; stop++) {
      await page.keyboard.press('Tab');
      const { name, isSeen } = await focus(page);
      if (name === '' || (stops.length > 1 && name === stops[0])) break;
      stops.push(name);
      expect(isSeen, name).toBe(true);
    }
    for (const { label } of NAVIGATION) expect(stops).toContain(`A ${label}`);
    expect(stops.length).toBeGreaterThan(NAVIGATION.length + 6);

    await page.locator('[data-slider]').focus();
    for (let step = 0; step < 30; step++) await page.keyboard.press('ArrowLeft');
    await reads(page, '[data-pointed]', /^\d\d:\d\d:\d\d UTC$/);
    await page.keyboard.press('End');
    await reads(page, '[data-pointed]', 'now');
  });

  test('without scripts the pages have the newest figures and events, and nothing that needs a script', async () => {
    await using visit = await openPage(browser, ops, { javaScriptEnabled: false });
    const { page } = visit;
    await signIn(page, ops, operator);
    for (const path of ['/', '/plots']) {
      await page.goto(ops.url + path);
      expect(await page.locator('[data-series=workers] [data-value]').innerText()).toBe('0');
      expect(await page.locator('[data-timeline] li').count()).toBeGreaterThan(0);
      expect(await page.locator('[name=range]').first().isVisible()).toBe(false);
      expect(await page.locator('[data-slider]').isVisible()).toBe(false);
    }
  });
});

async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  const found = (await page.evaluate('axe.run().then(({ violations }) => violations)')) as Violation[];
  return found.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  );
}

/** Entries of the navigation and headings whose text does not fit. */
function cutOff(page: Page): Promise<string[]> {
  return page.evaluate(`[...document.querySelectorAll('nav a, h1, h2, h3, button, .figure, .keys li')]
    .filter((element) => {
      const { left, right } = element.getBoundingClientRect();
      return left < 0 || right > innerWidth + 1 || element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 0;
    })
    .map((element) => element.textContent)`);
}

/** What has the focus, and whether it, or the text beside a hidden control, is outlined. */
function focus(page: Page): Promise<{ name: string; isSeen: boolean }> {
  return page.evaluate(`(() => {
    const element = document.activeElement;
    if (element === null || element === document.body) return { name: '', isSeen: true };
    const outlined = [element, element.nextElementSibling]
      .filter(Boolean)
      .some((each) => getComputedStyle(each).outlineStyle !== 'none');
    const text = element.getAttribute('aria-label') ?? element.closest('label')?.textContent ?? element.textContent;
    return { name: element.tagName + ' ' + text.trim().slice(0, 60), isSeen: outlined };
  })()`);
}
