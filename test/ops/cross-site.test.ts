import { afterAll, beforeAll, expect, test } from 'vitest';
import { testDatabase, testQueue } from '../harness/servers/servers.ts';
import { operator, type RunningConsole, startConsole } from './running-console.ts';
import { signedIn, visit } from './visitor.ts';

const database = testDatabase();
const queue = testQueue();

let ops: RunningConsole;
beforeAll(async () => {
  ops = await startConsole({ MONGODB_URL: database.url, REDIS_URL: queue.url, QUEUE_PREFIX: queue.prefix });
});
afterAll(() => ops.close());

const pauseForm = () => new URLSearchParams({ reason: 'test', minutes: '1' });

const foreign: [string, Record<string, string>][] = [
  ['another site', { 'sec-fetch-site': 'cross-site' }],
  ['another origin of this site', { 'sec-fetch-site': 'same-site' }],
  ['another site, as old browsers tell it', { origin: 'https://elsewhere.example' }],
  ['a page without an origin', { origin: 'null' }],
  ['another port of this host', { origin: 'http://127.0.0.1:1' }],
];

test.each(foreign)('what %s makes a browser send changes nothing', async (_who, headers) => {
  const visitor = await signedIn(ops, operator);
  const pause = await visitor.call('/controls/pause', { method: 'POST', headers, body: pauseForm() });
  expect(pause.status).toBe(403);
  expect(await pause.json()).toEqual({ error: 'This request came from another site and was refused.' });
  expect((await visitor.call('/sign-out', { method: 'POST', headers })).status).toBe(403);
  expect((await visitor.call('/status')).status).toBe(200);
});

test('another site cannot sign a browser in', async () => {
  const answer = await visit(ops).signIn(operator, { 'sec-fetch-site': 'cross-site' });
  expect(answer.status).toBe(403);
  expect(answer.headers.getSetCookie()).toEqual([]);
});

test.each([
  ['its own pages', () => ({ 'sec-fetch-site': 'same-origin' })],
  ['its own pages, as old browsers tell it', () => ({ origin: ops.url })],
  ['what is no browser', () => ({})],
])('the console takes requests from %s', async (_who, headers) => {
  const visitor = await signedIn(ops, operator);
  const sent = () => ({ method: 'POST', headers: headers(), body: pauseForm() });
  expect((await visitor.call('/controls/pause', sent())).status).toBe(303);
  expect((await visitor.call('/controls/resume', sent())).status).toBe(303);
});

test('a link from elsewhere may lead here, since looking changes nothing', async () => {
  const answer = await visit(ops).see('/sign-in', { headers: { 'sec-fetch-site': 'cross-site' } });
  expect(answer.status).toBe(200);
});

test.each(['/sign-in', '/', '/nowhere', '/status'])(
  '%s can be framed by nobody and runs no foreign code',
  async (path) => {
    const { headers } = await visit(ops).see(path);
    const policy = headers.get('content-security-policy');
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self';");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  },
);
