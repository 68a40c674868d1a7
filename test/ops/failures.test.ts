import type { OperatorEntry } from '@plant-store/audit/ledger/audit-entry';
import { creationJobId } from '@plant-store/contracts/creation-job';
import type { PlantDocument } from '@plant-store/contracts/plant-document';
import { Long, ObjectId } from 'mongodb';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createFailuresReader } from '../../services/ops/src/failures/read-failures.ts';
import { failuresPage } from '../../services/ops/src/pages/failures-page.ts';
import { waitFor } from '../harness/wait-for.ts';
import { untilProcessed } from '../worker/processed.ts';
import { untilNoJobIsLeft } from '../worker/queue-states.ts';
import { pendingPlant, storeCommit } from '../worker/stored-plants.ts';
import { workerUnderTest } from '../worker/worker-under-test.ts';
import { installedChromium, startChromium } from './chromium.ts';
import { browse } from './console-browser.ts';
import { operator, type RunningConsole, startConsole, viewer } from './running-console.ts';
import { signedIn, type Visitor } from './visitor.ts';

const system = workerUnderTest();
const { database, environment, plants, publish, queue, start } = system;
const OPERATORS_CHAIN = 64;
/** The relay's own retries come too late for the tests: what happens is what the operator does. */
const SLOW_RELAY = { RELAY_AGE_MS: '30000' };

let ops: RunningConsole;
let olga: Visitor;
let vera: Visitor;
beforeAll(async () => {
  ops = await startConsole(environment);
  [olga, vera] = [await signedIn(ops, operator), await signedIn(ops, viewer)];
});
afterAll(async () => {
  await ops?.close();
});

/** A commit of three of which so many cannot be processed, after its job has failed. */
async function failedCommit(poisonous = 1): Promise<{ commit: string; poison: bigint[] }> {
  const { commit, plants: stored } = await storeCommit(plants, 2 + poisonous);
  const poison = stored.slice(0, poisonous).map(({ _id }) => _id);
  await plants.updateMany({ _id: { $in: poison } }, { $set: { name: 5 as never } });
  await publish(commit, stored.length);
  await start(SLOW_RELAY);
  await waitFor(async () => (await queue.getFailedCount()) === 1, {
    withinMs: 10_000,
    what: 'the job failed',
  });
  return { commit, poison };
}

const act = (visitor: Visitor, control: string, fields: Record<string, string>) =>
  visitor.call(`/controls/${control}`, { method: 'POST', body: new URLSearchParams(fields) });

/** The newest entry of the operators' chain. */
async function audited(): Promise<OperatorEntry> {
  const blocks = database.collection<{ entries: OperatorEntry[] }>('audit_blocks');
  const [newest] = await blocks.find({ chain: OPERATORS_CHAIN }).sort({ height: -1 }).limit(1).toArray();
  return newest?.entries.at(-1) as OperatorEntry;
}

const stored = (id: bigint) => plants.findOne({ _id: id }) as Promise<PlantDocument>;

describe.skipIf(installedChromium === undefined)('in a browser', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startChromium();
  });
  afterAll(() => browser?.close());

  async function confirmed(page: Page, effect: RegExp, button: string, reason: string): Promise<void> {
    expect(await page.locator('[data-effect]').innerText()).toMatch(effect);
    await page.getByLabel('Reason', { exact: true }).fill(reason);
    await page.getByRole('button', { name: button }).click();
    await page.waitForURL(/\/(failures|controls)$/);
  }

  test('a plant that cannot be processed is shown with its wrong field, mended, retried and processed', async () => {
    const { commit, poison } = await failedCommit();
    const [id] = poison as [bigint];
    await using visit = await browse(browser, ops, operator);
    const { page, complaints } = visit;
    await page.getByRole('link', { name: 'Failures', exact: true }).click();
    const group = page.locator('[data-reason="name must be a string"]');
    expect(await group.locator('[data-count]').innerText()).toBe('1 plant');
    await group.locator('summary').click();
    expect(await group.locator('mark').innerText()).toContain('"name": 5');

    await plants.updateOne({ _id: id }, { $set: { name: 'mended' } });
    await page.goto(`${ops.url}/controls/retry?plant=${id}`);
    await confirmed(
      page,
      /^1 failed job that names the commit of plant \d+ is taken again/,
      'Retry failed jobs',
      'name mended',
    );
    await untilProcessed(database);
    await untilNoJobIsLeft(system);
    expect(await queue.getJob(creationJobId(commit))).toBeUndefined();
    expect(await audited()).toMatchObject({
      action: 'retried',
      outcome: 'done',
      target: `plant ${id}`,
      reason: 'name mended',
      affected: 1,
      who: { sub: operator.name },
      from: { address: '127.0.0.1' },
    });
    await page.goto(`${ops.url}/failures`);
    expect(await page.locator('h1').innerText()).toBe('Every plant can be processed');
    expect(complaints).toEqual([]);
  });

  test('a plant goes into quarantine, stays visible, is not retried, comes back and is processed', async () => {
    const { poison } = await failedCommit();
    const [id] = poison as [bigint];
    await using visit = await browse(browser, ops, operator);
    const { page, complaints } = visit;
    await page.goto(`${ops.url}/failures`);
    await page.locator('summary').click();
    await page.getByRole('link', { name: 'Quarantine', exact: true }).click();
    await confirmed(page, /^Plant \d+ is set aside/, 'Quarantine', 'the client will send it anew');
    expect(await page.locator('[data-quarantined]').innerText()).toBe('1 plant');
    await page.getByRole('cell', { name: 'the client will send it anew' }).waitFor();
    expect(await stored(id)).toMatchObject({
      pending: 'quarantined',
      quarantine: { reason: 'the client will send it anew', by: operator.name, since: expect.any(Date) },
    });
    expect(await audited()).toMatchObject({
      action: 'quarantined',
      target: `plant ${id}`,
      before: 'pending',
      after: `quarantined: ${id}`,
      affected: 1,
    });
    // Its job is done without it, and none comes again.
    await untilNoJobIsLeft(system);

    await page.getByRole('link', { name: String(id) }).click();
    expect(await page.locator('[data-quarantine]').innerText()).toContain('the client will send it anew');
    await plants.updateOne({ _id: id }, { $set: { name: 'mended' } });
    await page.getByRole('link', { name: 'Release from quarantine' }).click();
    await confirmed(page, /^Plant \d+ is pending again/, 'Release from quarantine', 'it was mended');
    await untilProcessed(database);
    expect(await stored(id)).not.toHaveProperty('quarantine');
    expect(await audited()).toMatchObject({
      action: 'released',
      before: 'quarantined',
      after: `pending: ${id}`,
    });
    expect(complaints).toEqual([]);
  });
});

test('all plants of a reason are quarantined and released together, with the count first', async () => {
  const { poison } = await failedCommit(30);
  const page = await (await olga.see('/failures')).text();
  expect(page).toContain('30 plants cannot be processed, for one reason');
  expect(page).toContain('and 10 more');
  const asked = 'matching=name+must+be+a+string';
  expect(await (await olga.see(`/controls/quarantine?${asked}`)).text()).toContain(
    '30 plants are set aside: until they are released, they are neither',
  );
  await act(olga, 'quarantine', { matching: 'name must be a string', reason: 'a faulty import' });
  expect(await plants.countDocuments({ pending: 'quarantined' })).toBe(30);
  expect(await audited()).toMatchObject({ action: 'quarantined', affected: 30, target: 'plant-creations' });

  await plants.updateMany({ _id: { $in: poison } }, { $set: { name: 'mended' } });
  const release = await (await olga.see('/controls/release?matching=a+faulty+import')).text();
  expect(release).toContain(
    '30 plants are pending again: workers index and audit them, or they fail once more',
  );
  await act(olga, 'release', { matching: 'a faulty import', reason: 'mended' });
  await untilProcessed(database);
  expect(await audited()).toMatchObject({ action: 'released', affected: 30 });
});

test('plants that the database refuses to index are grouped by its words', async () => {
  await database.collection('plant_search').drop();
  await database.createCollection('plant_search', { validator: { name: { $ne: 'rejected' } } });
  try {
    const { commit, plants: own } = await storeCommit(plants, 2, { name: 'rejected' });
    await publish(commit, 2);
    await start(SLOW_RELAY);
    await waitFor(async () => (await queue.getFailedCount()) === 1, {
      withinMs: 10_000,
      what: 'the job failed',
    });
    const page = await (await vera.see('/failures')).text();
    expect(page).toContain('data-reason="Document failed validation (121)"');
    for (const { _id } of own) expect(page).toContain(`data-plant="${_id}"`);
  } finally {
    await database.collection('plant_search').drop();
  }
});

test.each(['retry', 'quarantine', 'release'])(
  'a viewer sees what %s of a plant would do and may not do it, and the attempt is audited',
  async (control) => {
    const { poison } = await failedCommit();
    const [id] = poison as [bigint];
    const before = await stored(id);
    expect((await vera.see('/failures')).status).toBe(200);
    expect((await vera.see(`/controls/${control}?plant=${id}`)).status).toBe(200);
    expect((await act(vera, control, { plant: String(id), reason: 'curious' })).status).toBe(403);
    expect(await stored(id)).toEqual(before);
    expect(await queue.getFailedCount()).toBe(1);
    expect(await audited()).toMatchObject({
      action: control,
      outcome: 'refused',
      target: `plant ${id}`,
      before: 'role viewer',
      who: { sub: viewer.name },
    });
  },
);

test('a plant that is not pending is not quarantined, and nothing is claimed', async () => {
  const { commit, plants: own } = await storeCommit(plants, 1);
  await publish(commit);
  await start();
  await untilProcessed(database);
  const id = String(own[0]?._id);
  expect(await (await olga.see(`/controls/quarantine?plant=${id}`)).text()).toContain('Nothing: plant');
  await act(olga, 'quarantine', { plant: id, reason: 'too late' });
  expect(await plants.countDocuments({ pending: 'quarantined' })).toBe(0);
  expect(await audited()).toMatchObject({ action: 'quarantined', affected: 0 });
});

test('documents with an int64 where none belongs are shown like any other', async () => {
  const commit = new ObjectId();
  const plant = pendingPlant(commit, { by: { sub: Long.fromNumber(1) } as never });
  const nobody = pendingPlant(commit, { _id: { a: Long.fromNumber(1) } as never });
  await plants.insertMany([plant, nobody]);
  const failures = await vera.see('/failures');
  expect(failures.status).toBe(200);
  const page = await failures.text();
  expect(page).toContain(`data-plant="${plant._id}"`);
  expect(page).toContain('A document whose _id is no int64');
  const story = await vera.see(`/plants/${plant._id}`);
  expect(story.status).toBe(200);
  expect(await story.text()).toContain('<dt>subject</dt><dd>');
});

test('however large the documents are, so much is read and no more, once for all who ask at the same time', async () => {
  const commit = new ObjectId();
  const large = { name: 5, extra: 'x'.repeat(1_000_000) } as never;
  await plants.insertMany(Array.from({ length: 40 }, () => pendingPlant(commit, large)));
  // On a busy machine that takes longer than an answer may.
  const page = await waitFor(
    async () => {
      const answer = await vera.see('/failures');
      return answer.status === 503 ? undefined : answer.text();
    },
    { withinMs: 10_000, what: 'the page' },
  );
  expect(page).toContain('There are more than this page reads');

  const reader = createFailuresReader(database, system);
  const [first, second] = await waitFor(
    () => Promise.all([reader.matching('name'), reader.matching('string')]),
    { withinMs: 10_000, what: 'they are read' },
  );
  expect(first.isPartial).toBe(true);
  expect(first.plants.length).toBeLessThan(40);
  expect(second.plants[0]).toBe(first.plants[0]);
});

test('failed jobs without a stored reason are shown without a retry that would find nothing', () => {
  const nothing = { groups: [], quarantined: [], isPartial: false, jobsRead: true };
  const otherJobs = [{ reason: '', jobs: 2, lastFailed: undefined }];
  const page = failuresPage(viewer, { ...nothing, otherJobs }, new Date());
  expect(page).toContain('no reason is stored');
  expect(page).not.toContain('/controls/retry');
});
