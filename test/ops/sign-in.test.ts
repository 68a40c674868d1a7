import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { createLogger } from '@plant-store/platform/process/logger';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startOps } from '../../services/ops/src/compose.ts';
import { readOpsConfig } from '../../services/ops/src/config.ts';
import { opsUsers } from '../harness/ops-users.ts';
import { testDatabase, testQueue } from '../harness/servers/servers.ts';
import { waitFor } from '../harness/wait-for.ts';
import { operator, type RunningConsole, startConsole, viewer } from './running-console.ts';
import { signedIn, visit } from './visitor.ts';

const database = testDatabase();
const queue = testQueue();

let ops: RunningConsole;
beforeAll(async () => {
  ops = await startConsole({
    MONGODB_URL: database.url,
    REDIS_URL: queue.url,
    QUEUE_PREFIX: queue.prefix,
    /** Lets a test come from as many addresses as it needs. */
    TRUSTED_PROXIES: '127.0.0.1',
  });
});
afterAll(() => ops.close());

const from = (address: string) => ({ 'x-forwarded-for': address });

/** The routes of the console, found by building it. */
async function everyRoute(): Promise<{ method: string; url: string }[]> {
  const routes: { method: string; url: string }[] = [];
  let apps = 0;
  const onApp = (message: unknown) => {
    // The other one is the internal listener, which is on a port of its own.
    if (apps++ > 0) return;
    (message as { fastify: FastifyInstance }).fastify.addHook('onRoute', ({ method, url }) => {
      for (const each of [method].flat()) routes.push({ method: each, url });
    });
  };
  subscribe('fastify.initialization', onApp);
  try {
    const { config, secrets } = readOpsConfig({
      MONGODB_URL: database.url,
      REDIS_URL: queue.url,
      QUEUE_PREFIX: queue.prefix,
      OPS_PORT: '0',
      INTERNAL_PORT: '0',
      OPS_USERS: await opsUsers(viewer),
    });
    await (await startOps(config, secrets, createLogger('ops', 'routes', 'silent'))).close();
  } finally {
    unsubscribe('fastify.initialization', onApp);
  }
  return routes;
}

test('whoever is not signed in reaches no route but those that sign in or out, and the assets', async () => {
  const guarded = (await everyRoute()).filter(({ url }) => !/^\/(?:assets\/|sign-(?:in|out))/.test(url));
  for (const url of ['/', '/plants/:id', '/plants/:id/proof', '/failures', '/live', '/openapi.json']) {
    expect(guarded).toContainEqual({ method: 'GET', url });
  }
  const open: string[] = [];
  for (const { method, url } of guarded) {
    const path = url.replaceAll(/:\w+|\*/g, '1');
    const script = await visit(ops).call(path, { method });
    await script.body?.cancel();
    if (script.status !== 401) open.push(`${method} ${url} answers a script with ${script.status}`);
    if (method !== 'GET') continue;
    const page = await visit(ops).see(path);
    await page.body?.cancel();
    if (page.status !== 303 || page.headers.get('location') !== '/sign-in') {
      open.push(`${method} ${url} answers a browser with ${page.status}`);
    }
  }
  expect(open).toEqual([]);
});

test.each([
  '/',
  '/board',
  '/board/',
  '/board/queue/plant-creations',
  '/controls',
  '/controls/pause',
  '/runbook',
])('whoever is not signed in is sent from %s to the sign-in page', async (path) => {
  const answer = await visit(ops).see(path);
  expect(answer.status).toBe(303);
  expect(answer.headers.get('location')).toBe('/sign-in');
});

test.each([
  ['GET', '/status'],
  ['GET', '/board/api/queues'],
  ['PUT', '/board/api/queues/pause'],
  ['POST', '/controls/pause'],
])('a script that is not signed in is told so by 401 in JSON: %s %s', async (method, path) => {
  const answer = await visit(ops).call(path, { method });
  expect(answer.status).toBe(401);
  expect(await answer.json()).toEqual({ error: 'Sign in first.' });
});

test('the sign-in page needs nothing from elsewhere and is never stored', async () => {
  const answer = await visit(ops).see('/sign-in');
  const page = await answer.text();
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect(page).not.toMatch(/https?:\/\//);
  expect(answer.headers.getSetCookie()).toEqual([]);

  const [style] = /\/assets\/[^"]+\.css/.exec(page) ?? [];
  const asset = await visit(ops).see(String(style));
  expect(asset.status).toBe(200);
  expect(asset.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
});

test('name and password open a session in a cookie that scripts cannot read and other sites cannot send', async () => {
  const visitor = visit(ops);
  const answer = await visitor.signIn(operator, from('198.51.100.1'));
  expect(answer.status).toBe(303);
  expect(answer.headers.get('location')).toBe('/');
  const [cookie] = answer.headers.getSetCookie();
  expect(cookie).toMatch(/; Path=\//);
  expect(cookie).toMatch(/; HttpOnly/);
  expect(cookie).toMatch(/; SameSite=Strict/);

  const page = await (await visitor.see('/')).text();
  expect(page).toContain('Sign out');
  expect(page).toContain(operator.name);
  expect(await ops.metric('plants_ops_sign_ins_total{outcome="accepted"}')).toBeGreaterThan(0);
});

test('signing in changes the session, so that one planted before is worth nothing', async () => {
  const visitor = await signedIn(ops, viewer);
  const before = visitor.cookie;
  await visitor.signIn(operator, from('198.51.100.2'));
  expect(visitor.cookie).not.toBe(before);

  const planted = visit(ops);
  planted.cookie = before;
  expect((await planted.call('/status')).status).toBe(401);
});

test('signing out ends the session, also for whoever kept the cookie', async () => {
  const visitor = await signedIn(ops, viewer);
  const kept = visitor.cookie;
  expect((await visitor.call('/status')).status).toBe(200);
  const answer = await visitor.see('/sign-out', { method: 'POST' });
  expect(answer.headers.get('location')).toBe('/sign-in');

  const later = visit(ops);
  later.cookie = kept;
  expect((await later.call('/status')).status).toBe(401);
});

test('a cookie that was not made here opens nothing', async () => {
  const visitor = visit(ops);
  visitor.cookie = 'ops=forged.signature';
  expect((await visitor.call('/status')).status).toBe(401);
});

test('an unknown name and a wrong password get the same answer', async () => {
  const answers = new Set<string>();
  for (const name of ['mole', viewer.name]) {
    const answer = await visit(ops).signIn({ name, password: 'not-the-password' }, from('198.51.101.1'));
    expect(answer.status).toBe(401);
    answers.add((await answer.text()).replaceAll(name, '<name>'));
  }
  expect(answers.size).toBe(1);
  expect([...answers][0]).toContain('Name and password do not belong together.');
});

test('wrong passwords for a name are throttled at their address; elsewhere, and for other names, the right one works', async () => {
  const guesser = from('198.51.102.1');
  const statuses: number[] = [];
  for (let tried = 0; tried < 10; tried++) {
    const guess = { name: viewer.name, password: `guess-${tried}` };
    statuses.push((await visit(ops).signIn(guess, guesser)).status);
  }
  expect(statuses).toEqual(Array(10).fill(401));

  const throttled = await visit(ops).signIn(viewer, guesser);
  expect(throttled.status).toBe(429);
  expect(Number(throttled.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await throttled.text()).toContain('Too many tries to sign in.');
  expect((await visit(ops).signIn(viewer, from('198.51.102.2'))).status).toBe(303);
  expect((await visit(ops).signIn(operator, guesser)).status).toBe(303);
  expect(await ops.metric('plants_ops_sign_ins_total{outcome="throttled"}')).toBe(1);
});

test.each([
  ['nothing', ''],
  ['a name alone', 'name=olga'],
  ['a name twice', 'name=olga&name=vera&password=looking-glass-house'],
  ['markup', 'name=%3Cscript%3E&password=x'],
])('a form with %s is refused without being echoed as markup', async (_what, body) => {
  const headers = { 'content-type': 'application/x-www-form-urlencoded', ...from('198.51.103.1') };
  const answer = await visit(ops).see('/sign-in', { method: 'POST', headers, body });
  expect(answer.status).toBe(401);
  expect(await answer.text()).not.toContain('<script>');
});

test.each([
  ['a large form', 'application/x-www-form-urlencoded', `name=${'x'.repeat(10_000)}`, 413],
  ['another media type', 'text/csv', 'name,password', 415],
])('%s is refused in plain words, with no word of the framework', async (_what, type, body, status) => {
  const headers = { 'content-type': type, ...from('198.51.104.1') };
  const answer = await visit(ops).call('/sign-in', { method: 'POST', headers, body });
  expect(answer.status).toBe(status);
  expect(await answer.text()).not.toMatch(/FST_|Unsupported|too large|stack/);
});

test('what is not there is said in a page or in JSON', async () => {
  const page = await visit(ops).see('/nowhere');
  expect(page.status).toBe(404);
  expect(await page.text()).toContain('There is no such page here.');
  const json = await visit(ops).call('/nowhere');
  expect(json.status).toBe(404);
  expect(await json.json()).toEqual({ error: 'There is no such page here.' });
});

test('every try is logged with who and from where; no password, and no unknown name, is', async () => {
  await visit(ops).signIn({ name: 'my-password-by-mistake', password: 'wrong-again' }, from('198.51.105.1'));
  await visit(ops).signIn({ name: viewer.name, password: 'wrong-again' }, from('198.51.105.2'));
  const refused = await waitFor(
    () => {
      const lines = ops.log().filter(({ msg }) => msg === 'sign-in refused');
      const mine = lines.filter(({ address }) => String(address).startsWith('198.51.105.'));
      return mine.length === 2 ? mine : undefined;
    },
    { withinMs: 2_000, what: 'two lines in the log' },
  );
  expect(refused).toMatchObject([
    { address: '198.51.105.1' },
    { address: '198.51.105.2', user: viewer.name },
  ]);
  expect(refused[0]).not.toHaveProperty('user');
  expect(ops.output()).not.toContain('my-password-by-mistake');
  expect(ops.output()).not.toContain('wrong-again');
  expect(ops.output()).not.toContain(viewer.password);
  expect(ops.output()).not.toContain(operator.password);
});
