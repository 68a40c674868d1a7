import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type Ended, launch } from '../harness/processes/launch.ts';

const PAGE = resolve(import.meta.dirname, '../../docs/clients.md');
const CLIENT_MS_MAX = 60_000;

/** Runs the library of the page for one plant, as a program of a client's author would. */
const DRIVER = `
import { createPlant } from './create-plant.ts';
const [url = '', tokens = '', id = '', name = '', key = ''] = process.argv.slice(2);
const [first = '', second = ''] = tokens.split(' ');
let token = first;
const service = { url, token: async () => token, renewToken: async () => { token = second; } };
const verdict = await createPlant(service, { id: BigInt(id), name }, key);
console.log(verdict);
process.exitCode = verdict.stored ? 0 : 1;
`;

type Attempt = {
  url: string;
  token: string;
  /** Obtained once the first one was refused; only the library can. */
  renewedToken?: string;
  id: bigint;
  name: string;
  key: string;
};

/** The examples of docs/clients.md, taken from the page and written into a directory of their own. */
export type PageExamples = AsyncDisposable & {
  directory: string;
  shell: (attempt: Attempt) => Promise<Ended>;
  library: (attempt: Attempt) => Promise<Ended>;
  /** The example of use, as it stands on the page. */
  use: (url: string, token: string) => Promise<Ended>;
};

export async function pageExamples(): Promise<PageExamples> {
  const page = await readFile(PAGE, 'utf8');
  const directory = await mkdtemp(join(tmpdir(), 'clients-page-'));
  const [shell] = blocks(page, 'sh');
  const [library, use] = blocks(page, 'ts');
  const files = {
    'package.json': '{ "type": "module" }',
    'create-plant.sh': shell,
    'create-plant.ts': library,
    'use.ts': use,
    'driver.ts': DRIVER,
  };
  for (const [name, text] of Object.entries(files)) {
    if (text === undefined) throw new Error(`docs/clients.md holds no ${name}`);
    await writeFile(join(directory, name), text);
  }
  const run = (program: string, args: string[], environment: Record<string, string>) =>
    launch(program, args, { cwd: directory, environment, timeoutMs: CLIENT_MS_MAX }).ended;
  const node = (file: string, args: string[], environment = {}) =>
    run('node', [join(directory, file), ...args], environment);

  return {
    directory,
    async shell({ url, token, id, name, key }) {
      const plant = join(directory, `${key}.json`);
      await writeFile(plant, `{"id":${id},"name":${JSON.stringify(name)}}`);
      const environment = { PLANTS_URL: url, TOKEN: token };
      return run('sh', ['create-plant.sh', plant, key], environment);
    },
    library: ({ url, token, renewedToken = '', id, name, key }) =>
      node('driver.ts', [url, `${token} ${renewedToken}`, `${id}`, name, key]),
    use: (url, token) => node('use.ts', [], { PLANTS_URL: url, TOKEN: token }),
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true }),
  };
}

function blocks(page: string, language: string): string[] {
  const fence = new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'gm');
  return [...page.matchAll(fence)].map(([, code]) => code as string);
}
