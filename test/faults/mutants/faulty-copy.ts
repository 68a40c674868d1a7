import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import type { Mutant } from './mutants.ts';

const root = resolve(import.meta.dirname, '../../..');
const SCOPE = '@plant-store';

/** A tree of its own with the sources of the services, in which one text is another. */
export type FaultyCopy = AsyncDisposable & { tree: string };

/**
 * Copies the services and packages into a temporary folder and puts the fault in there. Their dependencies are linked,
 * but for the product's own packages, which are the copied ones. Nothing in the product itself can be switched to this.
 * @throws Error when the text that is to be replaced does not occur exactly once: the mutant has to be mended
 */
export async function faultyCopy({ name, file, text, becomes }: Mutant): Promise<FaultyCopy> {
  const source = await readFile(join(root, file), 'utf8');
  const occurrences = source.split(text).length - 1;
  if (occurrences !== 1) {
    throw new Error(`the mutant "${name}" no longer applies: ${file} holds its text ${occurrences} times`);
  }
  const tree = await mkdtemp(join(tmpdir(), 'faulty-copy-'));
  const remove = () => rm(tree, { recursive: true, force: true });
  try {
    await copySources(tree);
    await linkDependencies(tree);
    await writeFile(
      join(tree, file),
      source.replace(text, () => becomes),
    );
  } catch (error) {
    await remove();
    throw error;
  }
  return { tree, [Symbol.asyncDispose]: remove };
}

async function copySources(tree: string): Promise<void> {
  const isSource = (path: string) => basename(path) !== 'node_modules';
  for (const folder of ['services', 'packages']) {
    await cp(join(root, folder), join(tree, folder), { recursive: true, filter: isSource });
  }
  await cp(join(root, 'package.json'), join(tree, 'package.json'));
}

async function linkDependencies(tree: string): Promise<void> {
  const modules = join(tree, 'node_modules');
  await mkdir(join(modules, SCOPE), { recursive: true });
  for (const name of await readdir(join(root, 'node_modules'))) {
    if (name !== SCOPE) await symlink(join(root, 'node_modules', name), join(modules, name));
  }
  for (const folder of ['services', 'packages']) {
    for (const name of await readdir(join(tree, folder))) {
      await symlink(join(tree, folder, name), join(modules, SCOPE, name));
    }
  }
}
