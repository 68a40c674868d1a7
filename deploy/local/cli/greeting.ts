import { relative } from 'node:path';
import type { LocalSystem } from '../system/local-system.ts';
import { terminal } from './terminal.ts';

/** What a person needs to go on, once everything serves. */
export function greet(
  { url, ops, mongodbUrl, redisUrl }: LocalSystem,
  { dataDir, token, seconds }: { dataDir: string; token: string | undefined; seconds: number },
): void {
  terminal.good(`Ready after ${seconds.toFixed(1)} s`);
  terminal.row('create plants', `POST ${url}/plants`);
  terminal.row('ops console', ops.url);
  for (const { name, password, role } of ops.users) {
    const secret = password ?? 'the password whose hash you gave';
    terminal.row('', `sign in as ${name} with ${secret}${role === name ? '' : ` (${role})`}`);
  }
  terminal.row('database', withoutPassword(mongodbUrl));
  terminal.row('queue', withoutPassword(redisUrl));
  terminal.row('data, logs', shortest(dataDir));

  if (token === undefined) {
    terminal.row('token', 'obtain one from the issuer whose key is configured');
  } else {
    terminal.row('token', 'for an hour; another one: npm run --silent token');
    terminal.line();
    terminal.line(token);
  }
  terminal.line();
  terminal.line('Create a plant:');
  terminal.line();
  terminal.line(curl(url, token ?? '<ACCESS_TOKEN>'));
  terminal.line();
  terminal.line('Ctrl-C stops everything; the plants stay.');
  terminal.line();
}

/** As a person here would write it. */
function shortest(path: string): string {
  const fromHere = relative('', path);
  return fromHere.startsWith('..') ? path : fromHere || '.';
}

/** The id is new at every start; because of the key, repeating the same line answers 200 again. */
function curl(url: string, token: string): string {
  const id = Date.now();
  const headers = [
    `Authorization: Bearer ${token}`,
    'Content-Type: application/json',
    `Idempotency-Key: first-${id}`,
  ];
  const plant = `{"id": ${id}, "name": "Monstera", "tag": "indoor"}`;
  return `curl ${url}/plants ${headers.map((header) => `-H '${header}'`).join(' ')} -d '${plant}'`;
}

function withoutPassword(url: string): string {
  return url.replace(/(\/\/[^/@:]*):[^/@]*@/, '$1:…@');
}
