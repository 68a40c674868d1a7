import { execFile } from 'node:child_process';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { auditPath, leafHash } from '@plant-store/audit/ledger/merkle-tree';
import { checkProof, type Proof } from '@plant-store/audit/proof/proof';
import type { PlantDocument } from '@plant-store/contracts/plant-document';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import vectors from '../../packages/audit/src/ledger/rfc6962-vectors.json' with { type: 'json' };
import { provePlant } from '../../services/ops/src/audit/prove.ts';
import { anchorKey, ledgerUnderTest } from './ledger-under-test.ts';

const run = promisify(execFile);
const VERIFIER = join(import.meta.dirname, 'verify_proof.py');
const PACKAGE = 'cryptography==48.0.0';

const { database, create, anchor } = ledgerUnderTest();
const key = anchorKey();
let plant: PlantDocument;
let proof: Proof;

/** A plant in the middle of a block, blocks after it up to the anchor, and blocks after the anchor. */
beforeEach(async () => {
  await create(1, 'Oak');
  plant = (await create(1, 'Fern', 'Moss', 'Rosé "ꙮ" \u0000 🌹', 'Ivy', 'Yew'))[2] as PlantDocument;
  await create(1, 'Elm');
  await create(1, 'Ash', 'Box');
  await create(0, 'Fir');
  await anchor(key.signing);
  await create(1, 'Lime');
  await anchor(key.signing);
  const answer = await provePlant(database, plant._id);
  if (answer.outcome !== 'proof') throw new Error(answer.outcome);
  proof = answer.proof;
});

test('a proof leads from the plant to the first anchor after it, and holds with the public key alone', () => {
  expect(proof).toMatchObject({
    plant: { id: plant._id.toString(), name: plant.name, tag: plant.tag },
    entry: { action: 'created', commit: plant.commit.toHexString(), who: plant.by },
    index: 2,
    block: { chain: 1, height: 2, entries: 5 },
    chain: [{ height: 3 }, { height: 4 }],
    anchor: { sequence: 1 },
  });
  expect(checkProof(proof, key.public)).toBeUndefined();
  expect(checkProof(JSON.parse(JSON.stringify(proof)), key.public)).toBeUndefined();
});

test('what cannot be proved yet says why', async () => {
  expect(await provePlant(database, 987_654n)).toEqual({ outcome: 'no plant' });
  const [late] = (await create(0, 'Late')) as [PlantDocument];
  expect(await provePlant(database, late._id)).toEqual({ outcome: 'not anchored' });
  await database.collection<PlantDocument>('plants').insertOne({ ...late, _id: 987_655n, pending: true });
  expect(await provePlant(database, 987_655n)).toEqual({ outcome: 'not audited' });
});

const [step] = vectors.roots as [string];
const forgeries: [string, (proof: Proof) => unknown][] = [
  ['another name', (p) => ({ ...p, plant: { ...p.plant, name: 'Other' } })],
  ['another id', (p) => ({ ...p, plant: { ...p.plant, id: '5' } })],
  ['a tag left out', ({ plant: { tag: _tag, ...rest }, ...p }) => ({ ...p, plant: rest })],
  ['another subject', (p) => ({ ...p, entry: { ...p.entry, who: { sub: 'x' } } })],
  ['a field more in the entry', (p) => ({ ...p, entry: { ...p.entry, note: 'x' } })],
  ['another place', (p) => ({ ...p, index: 3 })],
  ['a place beyond the block', (p) => ({ ...p, index: 5 })],
  ['a longer path', (p) => ({ ...p, path: [...p.path, step] })],
  ['a shorter path', (p) => ({ ...p, path: p.path.slice(1) })],
  ['another root', (p) => ({ ...p, block: { ...p.block, root: step } })],
  ['a block left out', (p) => ({ ...p, chain: p.chain.slice(1) })],
  [
    'a changed block between',
    (p) => ({ ...p, chain: p.chain.map((header) => ({ ...header, sealer: 'x' })) }),
  ],
  ['an anchor of something else', (p) => ({ ...p, anchor: { ...p.anchor, entries: 1 } })],
  ['an anchor without the chain', (p) => ({ ...p, anchor: { ...p.anchor, heads: [] } })],
  ['another version', (p) => ({ ...p, version: 2 })],
  ['nothing', () => ({})],
];

test.each(forgeries)('a proof with %s does not hold', (_case, forge) => {
  expect(checkProof(forge(proof), key.public)).toEqual(expect.any(String));
});

test('a proof does not hold for another key', () => {
  expect(checkProof(proof, anchorKey().public)).toContain('not among those given');
});

describe('a verifier written from the document alone, in Python', () => {
  let environment: NodeJS.ProcessEnv = process.env;
  let missing: string | undefined;

  beforeAll(async () => {
    try {
      await run('python3', ['-c', 'import cryptography']);
    } catch {
      const target = await mkdtemp(join(tmpdir(), 'plant-store-test-'));
      environment = { ...process.env, PYTHONPATH: target };
      const install = run('python3', ['-m', 'pip', 'install', '--quiet', '--target', target, PACKAGE]);
      missing = await install.then(
        () => undefined,
        (error: Error) => error.message.split('\n')[0],
      );
      if (missing !== undefined && process.env['CI'] === 'true') throw new Error(missing);
    }
  });

  async function verdict(value: unknown, pem: string): Promise<string> {
    const directory = await mkdtemp(join(tmpdir(), 'plant-store-test-'));
    const files = [join(directory, 'proof.json'), join(directory, 'key.pem')] as const;
    await writeFile(files[0], JSON.stringify(value));
    await writeFile(files[1], pem);
    const ran = await run('python3', [VERIFIER, ...files], { env: environment }).catch((error) => error);
    return ran.stdout.trim();
  }

  test('agrees on the proof and on every forgery', async ({ skip }) => {
    if (missing !== undefined) skip(missing);
    expect(await verdict(proof, key.pem.publicKey)).toBe('proved');
    expect(await verdict(proof, anchorKey().pem.publicKey)).toContain('another key');
    const verdicts = await Promise.all(
      forgeries.map(([, forge]) => verdict(forge(proof), key.pem.publicKey)),
    );
    expect(verdicts.filter((one) => !one.startsWith('FAULT'))).toEqual([]);
  });

  test("agrees on RFC 6962's vectors, roots and paths", async ({ skip }) => {
    if (missing !== undefined) skip(missing);
    const roots = vectors.roots.map((_root, size) => ({ leaves: vectors.leaves.slice(0, size) }));
    const paths = vectors.paths.map(({ index, leaves, path }) => ({
      leaves: vectors.leaves.slice(0, leaves),
      index,
      path,
    }));
    const own = [...Array(20).keys()].map((index) => {
      const leaves = [...Array(20).keys()].map((leaf) => Buffer.from(`entry ${leaf}`).toString('hex'));
      return {
        leaves,
        index,
        path: auditPath(
          [...Array(20).keys()].map((leaf) => leafHash(`entry ${leaf}`)),
          index,
        ),
      };
    });
    const child = run('python3', [VERIFIER, '--tree'], { env: environment });
    child.child.stdin?.end([...roots, ...paths, ...own].map((vector) => JSON.stringify(vector)).join('\n'));
    const answers = (await child).stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(answers.slice(0, roots.length).map(({ root }) => root)).toEqual(vectors.roots);
    for (const answer of answers.slice(roots.length)) expect(answer.ofPath).toBe(answer.root);
    for (const [place, { leaves }] of vectors.paths.entries()) {
      expect(answers[roots.length + place].root).toBe(vectors.roots[leaves]);
    }
  });
});
