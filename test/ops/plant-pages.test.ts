import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { creationJobId } from '@plant-store/contracts/creation-job';
import { ObjectId } from 'mongodb';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { anchorKey } from '../audit/ledger-under-test.ts';
import { opsCommand } from '../harness/processes/ops-command.ts';
import { untilProcessed } from '../worker/processed.ts';
import { pendingPlant, storeCommit } from '../worker/stored-plants.ts';
import { workerUnderTest } from '../worker/worker-under-test.ts';
import { installedChromium, startChromium } from './chromium.ts';
import { browse, untilShown } from './console-browser.ts';
import { operator, type RunningConsole, startConsole, viewer } from './running-console.ts';
import { signedIn, type Visitor } from './visitor.ts';

const system = workerUnderTest();
const { database, environment, plants, publish, queue, start } = system;
const key = anchorKey();
const PAST_DOUBLES = 2n ** 53n + 1n;

let ops: RunningConsole;
let vera: Visitor;
beforeAll(async () => {
  ops = await startConsole(environment);
  vera = await signedIn(ops, viewer);
});
afterAll(async () => {
  await ops?.close();
});

/** Times as the page shows them. */
const shown = (time: Date) => time.toISOString().replace('T', ' ').replace('Z', '');

describe.skipIf(installedChromium === undefined)('in a browser', () => {
  let browser: Browser;
  let directory: string;
  beforeAll(async () => {
    browser = await startChromium();
    directory = await mkdtemp(join(tmpdir(), 'plant-store-test-'));
  });
  afterAll(async () => {
    await browser?.close();
    await rm(directory, { recursive: true, force: true });
  });

  test('a viewer finds a plant by a word, reads its story with the times that are stored, and checks its proof', async () => {
    const commit = new ObjectId();
    const plant = pendingPlant(commit, { _id: PAST_DOUBLES, name: 'Rosa <b>gallica</b>' });
    await plants.insertOne(plant, { writeConcern: { w: 'majority' } });
    await publish(commit.toHexString());
    const job = await queue.getJob(creationJobId(commit.toHexString()));
    const published = shown(new Date(job?.timestamp as number));

    await using visit = await browse(browser, ops, viewer);
    const { page, complaints } = visit;
    await page.goto(`${ops.url}/plants/${PAST_DOUBLES}`);
    const step = (name: string) => page.locator(`[data-step=${name}]`).innerText();
    expect(await step('published')).toContain(published);
    expect(await step('published')).toContain('its job, which is in Redis');
    expect(await step('audited')).toContain('not yet');
    expect(await page.locator('[data-no-proof]').innerText()).toContain('no block of the audit log');

    await start({ AUDIT_ANCHOR_KEY: key.pem.privateKey, AUDIT_ANCHOR_INTERVAL_MS: '1000' });
    await untilProcessed(database);
    await page.goto(`${ops.url}/plants`);
    await page.getByLabel('Words of name and tag').fill('galli');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByRole('link', { name: PAST_DOUBLES.toString() }).click();
    await untilShown(page, '[data-step=anchored]', /\d{4}-/);

    const entry = await database.collection('plant_search').findOne({ _id: PAST_DOUBLES as never });
    const block = await database.collection('audit_blocks').findOne({ 'entries.event': PAST_DOUBLES });
    expect(await step('created')).toContain(shown(plant.created));
    expect(await step('published')).toContain(published);
    expect(await step('published')).toContain('its audit block');
    expect(await step('indexed')).toContain(shown(entry?.['indexed']));
    expect(await step('audited')).toContain(shown(block?.['time']));
    expect(await step('audited')).toContain(
      `${((block?.['time'].getTime() - entry?.['indexed'].getTime()) / 1_000).toFixed(3)} s`,
    );
    const facts = await page.locator('.facts').innerText();
    for (const fact of [plant.by.sub, plant.from.address, plant.from.request, commit.toHexString()]) {
      expect(facts).toContain(fact);
    }
    for (const record of ['document', 'index', 'audit']) {
      expect(await page.locator(`[data-record=${record}]`).innerText()).toContain(`"${PAST_DOUBLES}"`);
    }
    expect(await page.locator('[data-record=document]').innerText()).toContain('Rosa <b>gallica</b>');
    expect(await page.locator('[data-record=block]').innerText()).toContain(block?.['sealer']);

    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download the proof' }).click(),
    ]);
    const proof = join(directory, download.suggestedFilename());
    await download.saveAs(proof);
    const publicKey = join(directory, 'anchor-key.pub.pem');
    await writeFile(publicKey, key.pem.publicKey);
    const checked = await opsCommand(['audit', 'check-proof', proof, '--key', publicKey], {});
    expect(checked).toMatchObject({ code: 0, out: expect.stringContaining(`plant ${PAST_DOUBLES}`) });
    expect(complaints).toEqual([]);
  });

  test('the interface is described on a page that loads nothing from elsewhere and sends nothing', async () => {
    await using visit = await browse(browser, ops, operator);
    const { page, complaints } = visit;
    await page.goto(`${ops.url}/api`);
    await page.getByText('/plants').first().waitFor();
    await page.getByText('unexpected error').first().waitFor();
    expect(await page.getByRole('button', { name: 'Try it out' }).count()).toBe(0);
    expect(complaints).toEqual([]);
  });
});

test('pages of a search follow one another by key: each plant once, also while new ones arrive', async () => {
  const { commit, plants: stored } = await storeCommit(plants, 45, { name: 'Quercus robur' });
  await publish(commit, 45);
  await start();
  await untilProcessed(database);
  const found: string[] = [];
  let path: string | undefined = '/plants?text=quercus';
  while (path !== undefined) {
    const page = await (await vera.see(path)).text();
    found.push(...[...page.matchAll(/href="\/plants\/(-?\d+)">\1</g)].map(([, id]) => id as string));
    path = /<a rel="next" href="([^"]+)"/
      .exec(page)?.[1]
      ?.replaceAll(/&#38;|&amp;/g, '&')
      .replaceAll('&#61;', '=');
    const newer = await storeCommit(plants, 1, { name: 'Quercus robur' });
    await publish(newer.commit);
    await untilProcessed(database);
  }
  expect(found.toSorted()).toEqual(stored.map(({ _id }) => _id.toString()).toSorted());
});

test('a plant is found by id, name, tag and time, request, commit and subject, as the command finds it', async () => {
  const { commit, plants: stored } = await storeCommit(plants, 1, {
    name: 'Salix alba',
    by: { sub: 'client-salix' },
  });
  await publish(commit);
  await start();
  await untilProcessed(database);
  const [plant] = stored;
  const id = plant?._id.toString() as string;
  for (const asked of [
    { id },
    { name: 'salix a' },
    { tag: 'fleur', since: '1h' },
    { request: plant?.from.request as string },
    { commit },
    { subject: 'client-salix', text: 'alba' },
  ]) {
    const page = await (await vera.see(`/plants?${new URLSearchParams(asked)}`)).text();
    expect(page, JSON.stringify(asked)).toContain(`<a href="/plants/${id}">${id}</a>`);
  }
  const none = await (await vera.see('/plants?tag=fleur&until=2001-01-01')).text();
  expect(none).toContain('The search index has no such plant');
});

test.each([
  ['since=yesterday', 'A time is 2026-11-21'],
  ['id=1.5', 'An id is a whole number'],
  ['commit=abc', '24 hexadecimal digits'],
  ['since=2h', 'Ask for an id, words'],
  ['text=rose&after=x', 'This is no page'],
])('the question %s is answered with what to change', async (query, words) => {
  const answer = await vera.see(`/plants?${query}`);
  expect(answer.status).toBe(400);
  expect(await answer.text()).toContain(words);
});

test.each([
  ['/plants/42', 404, 'There is no plant 42.'],
  ['/plants/-9223372036854775809', 404, 'an id is a whole number from'],
  ['/plants/%3Cscript%3E', 404, 'an id is a whole number from'],
  ['/plants/42/proof', 404, 'There is no plant 42.'],
])('%s is not found, and says so', async (path, status, words) => {
  const answer = await vera.see(path);
  expect(answer.status).toBe(status);
  expect(await answer.text()).toContain(words);
});

test('an id in another spelling leads to the one address of its plant', async () => {
  const answer = await vera.see('/plants/42.0');
  expect([answer.status, answer.headers.get('location')]).toEqual([303, '/plants/42']);
});

test('a plant whose block names no publication was published at or before its block was sealed', async () => {
  const { commit, plants: stored } = await storeCommit(plants, 1);
  await publish(commit);
  await start();
  await untilProcessed(database);
  await database.collection('audit_blocks').updateMany({}, { $unset: { published: '' } });
  const page = await (await vera.see(`/plants/${stored[0]?._id}`)).text();
  expect(page).toContain('at or before ');
});

test('a plant whose document somebody damaged by hand still has its page', async () => {
  const { plants: stored } = await storeCommit(plants, 1);
  const _id = stored[0]?._id as bigint;
  await plants.updateOne({ _id }, { $set: { quarantine: null, created: 'today' } } as object);
  const page = await vera.see(`/plants/${_id}`);
  expect(page.status).toBe(200);
  expect(await page.text()).toContain('must be a date');
});
