import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { canonicalAnchor } from '@plant-store/audit/ledger/anchor';
import type { PlantDocument } from '@plant-store/contracts/plant-document';
import { beforeEach, describe, expect, test } from 'vitest';
import { createdBy } from '../../services/ops/src/commands/plant.ts';
import { opsCommand } from '../harness/processes/ops-command.ts';
import { anchorKey, ledgerUnderTest } from './ledger-under-test.ts';

const { url, database, create, anchor } = ledgerUnderTest();
const key = anchorKey();
let directory: string;
let keyFile: string;

const ops = (args: readonly string[], environment: Record<string, string> = { MONGODB_URL: url }) =>
  opsCommand(args, environment);

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'plant-store-test-'));
  keyFile = join(directory, 'anchor-key.pub.pem');
  await writeFile(keyFile, key.pem.publicKey);
});

test.each([
  [
    ['--help'],
    /doctor.*search.*plant.*pause.*resume.*retry.*quarantine.*release.*audit.*reindex.*reconcile/s,
  ],
  [['search', '--help'], /--request <id>.*--json/s],
  [['audit', 'verify', '--help'], /--anchors <file>.*--since <time>/s],
  [['audit', 'prove', '--help'], /--id <id>/],
  [['audit', 'check-proof', '--help'], /--key <file/],
])('%j tells what there is', async (args, help) => {
  const ran = await ops(args);
  expect(ran).toMatchObject({ code: 0, err: '' });
  expect(ran.out).toMatch(help);
});

test.each([
  [['serach'], "unknown command 'serach'"],
  [['search', '--colour', 'red'], "unknown option '--colour'"],
  [['search'], 'ask for an id, words'],
  [['search', 'rose', '--limit', '0'], 'whole number from 1 to 1000'],
  [['search', '--since', 'yesterday'], 'A time is'],
  [['search', 'rose', '--after', 'x'], 'this is no page'],
  [['plant', '1.5'], 'An id is a whole number'],
  [['plant'], 'give the id of a plant, or --request'],
  [['audit', 'prove'], "required option '--id <id>' not specified"],
  [['audit', 'verify', '--anchors', '/nowhere'], '/nowhere cannot be read'],
  [['audit', 'check-proof', '/nowhere', '--key', '/nowhere'], '/nowhere cannot be read'],
])('the mistake %j gets one clear line and exit code 2', async (args, message) => {
  const ran = await ops(args);
  expect(ran).toMatchObject({ code: 2, out: '' });
  expect(ran.err).toMatch(/^ops: [^\n]+\n$/);
  expect(ran.err).toContain(message);
});

describe('addresses', () => {
  test('without any, it says what to do', async () => {
    const ran = await ops(['plant', '1'], { DATA_DIR: directory });
    expect(ran.code).toBe(2);
    expect(ran.err).toContain('"npm start" first, or set MONGODB_URL');
  });

  test("the running local system's are read from its run.json, and its public key beside it", async () => {
    await writeFile(
      join(directory, 'run.json'),
      JSON.stringify({ mongodb: url, redis: 'redis://127.0.0.1' }),
    );
    const [plant] = (await create(0, 'Rose')) as [PlantDocument];
    await anchor(key.signing);
    const environment = { DATA_DIR: directory };
    expect((await ops(['plant', `${plant._id}`], environment)).out).toContain('Rose');
    expect(await ops(['audit', 'verify'], environment)).toMatchObject({ code: 0, err: '' });
  });

  test('no command prints the password of an address', async () => {
    const environment = { MONGODB_URL: 'mongodb://ops:hush@127.0.0.1:1/plants' };
    const { code, out, err } = await ops(['plant', '1'], environment);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain('the database does not answer');
    expect(err).not.toContain('hush');
  });
});

test('public-key prints the public key of the configured one, and nothing of a wrong one', async () => {
  const right = await ops(['audit', 'public-key'], { AUDIT_ANCHOR_KEY: key.pem.privateKey });
  expect(right).toEqual({ code: 0, out: key.pem.publicKey, err: '' });
  const wrong = await ops(['audit', 'public-key'], { AUDIT_ANCHOR_KEY: 'hush' });
  expect(wrong).toMatchObject({
    code: 2,
    out: '',
    err: expect.stringMatching(/^ops: AUDIT_ANCHOR_KEY must be [^\n]*\n$/),
  });
  expect(wrong.err).not.toContain('hush');
});

test('search finds plants, for people and as JSON, page by page', async () => {
  const plants = await create(0, 'Rose of\u001b[31m Sharon', 'Rose', 'Oak');
  const people = await ops(['search', 'rose']);
  expect(people.out).toMatch(/^id +created +tag +name\n/);
  expect(people.out).toContain('Rose of\\u001b[31m Sharon');
  expect(people.out).not.toContain('Oak');

  const first = JSON.parse((await ops(['search', 'rose', '--limit', '1', '--json'])).out);
  const second = JSON.parse(
    (await ops(['search', 'rose', '--limit', '1', '--json', '--after', first.next])).out,
  );
  const ids = [...first.plants, ...second.plants].map(({ id }) => id);
  expect(ids.toSorted()).toEqual(
    plants
      .slice(0, 2)
      .map(({ _id }) => `${_id}`)
      .toSorted(),
  );
  expect(second.next).toBeUndefined();
  expect((await ops(['search', '--request', plants[2]?.from.request as string])).out).toContain('Oak');
  expect((await ops(['search', 'nothing'])).out).toBe('no plant\n');
});

test("plant tells a plant's story, as far as it has got", async () => {
  const [plant] = (await create(0, 'Rose')) as [PlantDocument];
  const id = `${plant._id}`;
  const early = await ops(['plant', id]);
  expect(early.out).toMatch(/audited +\d{4}-.* s later\)/);
  expect(early.out).toMatch(/published +at or before \d{4}-\d\d-\d\dT[\d:.]+Z\n/);
  expect(early.out).toMatch(/anchored +not yet/);
  await anchor(key.signing);
  expect((await ops(['plant', id])).out).toContain(`audit prove --id ${id}`);
  expect(JSON.parse((await ops(['plant', id, '--json'])).out)).toMatchObject({
    plant: { id, name: 'Rose', by: plant.by, from: plant.from, commit: plant.commit.toHexString() },
    state: 'processed',
    times: {
      created: plant.created.toISOString(),
      indexed: expect.any(String),
      audited: expect.any(String),
      anchored: expect.any(String),
    },
    block: { chain: 0, height: 1, index: 0, entries: 1 },
    anchor: { sequence: 1 },
  });

  const byRequest = await ops(['plant', '--request', plant.from.request]);
  expect(byRequest.out).toBe((await ops(['plant', id])).out);
  expect(await ops(['plant', '--request', 'nobody'])).toMatchObject({
    code: 1,
    err: expect.stringContaining('no audited plant was created by request nobody'),
  });

  // A search that is not finished is no proof that there is no such plant.
  await expect(createdBy(database, plant.from.request, 0)).rejects.toThrow('was not finished');

  const strange = { ...plant, _id: -6n, commit: '\u001b[31m' as never };
  await database.collection<PlantDocument>('plants').insertOne(strange);
  expect((await ops(['plant', '--', '-6'])).out).toMatch(/commit +\\u001b\[31m/);

  await database.collection<PlantDocument>('plants').insertOne({ ...plant, _id: -5n, pending: true });
  expect((await ops(['plant', '--', '-5'])).out).toMatch(/state +pending/);
  expect(await ops(['plant', '99999'])).toMatchObject({ code: 1, err: 'ops: there is no plant 99999\n' });
});

describe('audit', () => {
  test('verify exits with 0 on an untouched log, with 1 and one line that names the first fault, with 2 without keys', async () => {
    await create(2, 'Rose', 'Lily');
    await create(2, 'Oak');
    expect(await ops(['audit', 'verify'])).toMatchObject({
      code: 0,
      out: expect.stringMatching(
        /^verified: 3 entries in 2 blocks of 1 chains, 0 anchors and 3 plants .*\nnote: there are no anchors/,
      ),
    });
    await anchor(key.signing);
    expect(await ops(['audit', 'verify'])).toMatchObject({ code: 2, err: expect.stringContaining('--key') });
    expect(await ops(['audit', 'verify', '--key', keyFile])).toMatchObject({ code: 0 });
    await database.collection('audit_blocks').updateOne({ chain: 2, height: 1 }, { $set: { sealer: 'x' } });
    const faulty = await ops(['audit', 'verify', '--key', keyFile]);
    expect(faulty.code).toBe(1);
    expect(faulty.out).toMatch(/^FAULT at chain 2, height 1: header changed: .+\n/);
    expect(JSON.parse((await ops(['audit', 'verify', '--key', keyFile, '--json'])).out)).toMatchObject({
      ok: false,
      faults: [{ kind: 'header changed', chain: 2, height: 1 }],
    });
  });

  test('verify takes anchors from a file, among other lines', async () => {
    await create(2, 'Rose');
    const kept = await anchor(key.signing);
    const file = join(directory, 'anchors.jsonl');
    await writeFile(file, `{"level":30,"msg":"listening"}\n${canonicalAnchor(kept)}\nno json\n`);
    expect((await ops(['audit', 'verify', '--key', keyFile, '--anchors', file])).code).toBe(0);
    await database.collection('audit_anchors').deleteMany({});
    await database.collection('audit_blocks').deleteMany({});
    await database.collection('plants').deleteMany({});
    expect((await ops(['audit', 'verify', '--key', keyFile])).code).toBe(0);
    const cut = await ops(['audit', 'verify', '--key', keyFile, '--anchors', file]);
    expect(cut.code).toBe(1);
    expect(cut.out).toContain('chain 2, height 1, anchor 1: tail missing');
  });

  test('prove prints a proof that check-proof accepts without the database, and refuses once it is changed', async () => {
    const [plant] = (await create(0, 'Rose')) as [PlantDocument];
    const early = await ops(['audit', 'prove', '--id', `${plant._id}`]);
    expect(early).toMatchObject({ code: 1, out: '', err: expect.stringContaining('within a minute') });
    await anchor(key.signing);
    const file = join(directory, 'proof.json');
    await writeFile(file, (await ops(['audit', 'prove', '--id', `${plant._id}`])).out);
    const check = () => ops(['audit', 'check-proof', file, '--key', keyFile], {});
    expect(await check()).toMatchObject({
      code: 0,
      out: expect.stringContaining(`proved: plant ${plant._id}`),
    });
    await writeFile(file, (await readFile(file, 'utf8')).replace('Rose', 'Rise'));
    expect(await check()).toMatchObject({ code: 1, out: expect.stringContaining('FAULT: the plant is not') });
    expect((await ops(['audit', 'check-proof', file, '--key', file], {})).err).toContain(
      'holds no public key in PEM',
    );
  });
});
