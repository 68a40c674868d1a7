import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { opsUsers } from '../harness/ops-users.ts';
import { type PrivateServer, privateRedis } from '../harness/servers/private-servers.ts';
import { testDatabase, testQueue } from '../harness/servers/servers.ts';
import { underLoadMs, waitFor } from '../harness/wait-for.ts';
import { installedChromium, startChromium } from './chromium.ts';
import { operator, type RunningConsole, startConsole, viewer } from './running-console.ts';
import { signedIn, visit } from './visitor.ts';

const root = resolve(import.meta.dirname, '../..');
const database = testDatabase();
const queue = testQueue();
const users = await opsUsers(operator, viewer);
const environment = {
  MONGODB_URL: database.url,
  REDIS_URL: queue.url,
  QUEUE_PREFIX: queue.prefix,
  OPS_USERS: users,
  TRUSTED_PROXIES: '127.0.0.1',
};

let ops: RunningConsole;
let redis: Redis;
beforeAll(async () => {
  redis = new Redis(queue.url);
  ops = await startConsole(environment);
});
afterAll(async () => {
  await ops?.close();
  redis?.disconnect();
});

/** Ends the console as a crash does, and starts it again at another port, until it can read sessions from Redis. */
async function restart(more: Record<string, string> = {}): Promise<void> {
  process.kill(ops.pid, 'SIGKILL');
  await ops.ended;
  ops = await startConsole({ ...environment, ...more });
  await waitFor(async () => (await ops.metric('plants_redis_up')) === 1, {
    withinMs: 10_000,
    what: 'the console has reached Redis',
  });
}

/** The status with this cookie, as whoever holds it would see it. */
async function statusWith(cookie: string | undefined): Promise<number> {
  const visitor = visit(ops);
  visitor.cookie = cookie;
  return await waitFor(
    async () => {
      const { status } = await visitor.call('/status');
      return status === 503 ? undefined : status;
    },
    { withinMs: 10_000, what: 'the console can tell whose it is' },
  );
}

const sessionKeys = () => redis.keys(`${queue.prefix}:ops-session:*`);
const from = (address: string) => ({ 'x-forwarded-for': address });

describe('a session', () => {
  test('survives a crash of the console, for who has signed in and for nobody else', async () => {
    const { cookie } = await signedIn(ops, viewer);
    await waitFor(async () => (await sessionKeys()).length > 0, { withinMs: 5_000, what: 'it is kept' });
    await restart();
    expect(await statusWith(cookie)).toBe(200);
    expect(await statusWith(`${cookie?.slice(0, -1)}${cookie?.endsWith('A') ? 'B' : 'A'}`)).toBe(401);
  });

  test('that ended by signing out stays ended after a restart', async () => {
    const visitor = await signedIn(ops, viewer);
    const kept = visitor.cookie;
    await visitor.see('/sign-out', { method: 'POST' });
    await restart();
    expect(await statusWith(kept)).toBe(401);
  });

  test('ends everywhere at once, also those from before a restart, and nobody else’s does', async () => {
    const [before, other] = [await signedIn(ops, operator), await signedIn(ops, viewer)];
    await waitFor(async () => (await sessionKeys()).length >= 2, { withinMs: 5_000, what: 'they are kept' });
    await restart();
    const now = await signedIn(ops, operator);
    const answer = await now.see('/sign-out-everywhere', { method: 'POST' });
    expect(answer.headers.get('location')).toBe('/sign-in');
    await waitFor(async () => (await redis.scard(`${queue.prefix}:ops-sessions-of:${operator.name}`)) === 0, {
      withinMs: 5_000,
      what: 'Redis has forgotten them',
    });
    for (const { cookie } of [before, now]) expect(await statusWith(cookie)).toBe(401);
    expect(await statusWith(other.cookie)).toBe(200);
    await restart();
    for (const { cookie } of [before, now]) expect(await statusWith(cookie)).toBe(401);
    expect(await statusWith(other.cookie)).toBe(200);
  });

  test('lies in Redis without what it takes to use it, and with an end', async () => {
    const visitor = await signedIn(ops, viewer);
    const id = String(visitor.cookie).split('=')[1] as string;
    await waitFor(async () => (await sessionKeys()).length > 0, { withinMs: 5_000, what: 'it is kept' });
    for (const key of await redis.keys(`${queue.prefix}:ops-session*`)) {
      expect(await redis.pttl(key)).toBeGreaterThan(9 * 3_600_000);
      const value =
        (await redis.type(key)) === 'set' ? (await redis.smembers(key)).join() : await redis.get(key);
      expect(key + value).not.toContain(id);
      expect(key + value).not.toContain('scrypt');
    }
  });

  test('that somebody wrote into Redis opens nothing, nor does one that was altered there', async () => {
    await signedIn(ops, viewer);
    await waitFor(async () => (await sessionKeys()).length > 0, { withinMs: 5_000, what: 'it is kept' });
    const [key = ''] = await sessionKeys();
    const stored = JSON.parse((await redis.get(key)) as string);
    const id = 'x'.repeat(32);
    const { createHash } = await import('node:crypto');
    const forged = `${queue.prefix}:ops-session:${createHash('sha256').update(id).digest('base64url')}`;
    for (const value of [
      stored,
      { ...stored, user: operator.name },
      { ...stored, code: '' },
      {},
      'no JSON',
    ]) {
      await redis.set(forged, typeof value === 'string' ? value : JSON.stringify(value), 'PX', 60_000);
      expect(await statusWith(`ops=${id}`)).toBe(401);
    }
  });

  test('ends with the password it began with, and with the account', async () => {
    const [olga, vera] = [await signedIn(ops, operator), await signedIn(ops, viewer)];
    await waitFor(async () => (await sessionKeys()).length >= 2, { withinMs: 5_000, what: 'they are kept' });
    await restart({ OPS_USERS: await opsUsers({ ...operator, password: 'another-password' }) });
    expect(await statusWith(olga.cookie)).toBe(401);
    expect(await statusWith(vera.cookie)).toBe(401);
    await restart();
  });

  test('has the role that the account has now', async () => {
    const [, vera = ''] = users.split(/,(?=vera)/);
    const { cookie } = await signedIn(ops, viewer);
    await waitFor(async () => (await sessionKeys()).length > 0, { withinMs: 5_000, what: 'it is kept' });
    await restart({ OPS_USERS: vera.replace(':viewer:', ':operator:') });
    const visitor = visit(ops);
    visitor.cookie = cookie;
    expect(await (await visitor.see('/')).text()).toContain('<small>operator</small>');
    await restart();
  });

  test('begins and ends while Redis is away, and Redis learns of both', async () => {
    const own: PrivateServer = await privateRedis();
    const away = await startConsole({ ...environment, REDIS_URL: own.url });
    try {
      const leaving = await signedIn(away, viewer);
      await own.kill();
      const staying = await signedIn(away, operator);
      expect((await staying.call('/status')).status).toBe(200);
      await leaving.see('/sign-out', { method: 'POST' });
      expect((await leaving.call('/status')).status).toBe(401);
      await own.start();
      const there = new Redis(own.url);
      try {
        const usersKept = async () => {
          const keys = await there.keys(`${queue.prefix}:ops-session:*`);
          const kept = await Promise.all(keys.map((key) => there.get(key)));
          return kept.map((value) => (JSON.parse(String(value)) as { user: string } | null)?.user).join();
        };
        await waitFor(async () => (await usersKept()) === operator.name, {
          withinMs: 10_000,
          what: 'the one session that has not ended is kept',
        });
      } finally {
        there.disconnect();
      }
    } finally {
      await away.close();
      await own.close();
    }
  });
});

describe('a session from before a restart', () => {
  test('while Redis is away, is neither signed in nor signed out, and goes on when Redis is back', async () => {
    // A crash of Redis loses nothing, so that the session is there again.
    const own: PrivateServer = await privateRedis(['--appendfsync', 'always']);
    let console_ = await startConsole({ ...environment, REDIS_URL: own.url });
    try {
      const { cookie } = await signedIn(console_, operator);
      const there = new Redis(own.url);
      await waitFor(async () => (await there.keys(`${queue.prefix}:ops-session:*`)).length === 1, {
        withinMs: 5_000,
        what: 'it is kept',
      });
      there.disconnect();
      await own.kill();
      process.kill(console_.pid, 'SIGKILL');
      await console_.ended;
      console_ = await startConsole({ ...environment, REDIS_URL: own.url });
      const again = visit(console_);
      again.cookie = cookie;
      const answers = await Promise.all(Array.from({ length: 20 }, () => again.call('/status')));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]));
      for (const answer of answers) expect(answer.headers.getSetCookie()).toEqual([]);
      expect((await again.see('/sign-in')).status).toBe(200);
      expect(console_.output()).not.toContain('MaxListenersExceeded');

      await own.start();
      await waitFor(async () => (await again.call('/status')).status === 200, {
        withinMs: 10_000,
        what: 'the same cookie opens the console',
      });
    } finally {
      await console_.close();
      await own.close();
    }
  });

  test('that was ended stays ended, also when Redis has it again', async () => {
    const visitor = await signedIn(ops, viewer);
    const kept = visitor.cookie;
    await waitFor(async () => (await sessionKeys()).length > 0, { withinMs: 5_000, what: 'it is kept' });
    const copies = await Promise.all(
      (await sessionKeys()).map(async (key) => [key, (await redis.get(key)) as string] as const),
    );
    await visitor.see('/sign-out', { method: 'POST' });
    // As after a failover to a replica that had not seen the removal.
    for (const [key, value] of copies) await redis.set(key, value, 'PX', 60_000);
    expect(await statusWith(kept)).toBe(401);
  });
});

describe('guessing', () => {
  test('from many addresses slows everybody, and the right person still gets in', async () => {
    for (let round = 0; round < 5; round++) {
      const guesses = Array.from({ length: 7 }, (_, guess) =>
        visit(ops).signIn(
          { name: operator.name, password: 'a-guess' },
          from(`198.51.100.${10 * round + guess}`),
        ),
      );
      expect(new Set((await Promise.all(guesses)).map(({ status }) => status))).toEqual(new Set([401]));
    }
    const began = performance.now();
    expect((await visit(ops).signIn(operator, from('203.0.113.1'))).status).toBe(303);
    expect(performance.now() - began).toBeGreaterThan(500);
    expect(performance.now() - began).toBeLessThan(underLoadMs(4_000));
  });
});

describe('a flood of tries', () => {
  test('is bounded: only some are hashed at once, and one address has 60 a minute, whatever the names', async () => {
    await restart();
    const flood = (tries: number, address: string) =>
      Promise.all(
        Array.from({ length: tries }, (_, tried) =>
          visit(ops).signIn({ name: `invented-${tried}`, password: 'a-guess' }, from(address)),
        ),
      );
    const count = (answers: readonly Response[], status: number) =>
      answers.filter((answer) => answer.status === status).length;
    const atOnce = await flood(40, '198.51.100.1');
    expect(count(atOnce, 401) + count(atOnce, 503)).toBe(40);
    expect(count(atOnce, 503)).toBeGreaterThan(0);
    const more = await flood(40, '198.51.100.1');
    expect(count(more, 429)).toBe(20);
    expect((await visit(ops).signIn(operator, from('203.0.113.1'))).status).toBe(303);
  });
});

describe('npm run ops -- password', () => {
  async function password(input: string, ...args: string[]) {
    const child = spawn(
      process.execPath,
      [join(root, 'services/ops/src/commands/main.ts'), 'password', ...args],
      {
        cwd: root,
        stdio: ['pipe', 'pipe', 'pipe'],
      },
    );
    child.stdin.end(input);
    const [stdout, stderr] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ]);
    return { code: child.exitCode, stdout, stderr };
  }

  test('prints the entry of OPS_USERS alone, with which the person signs in', async () => {
    const { code, stdout, stderr } = await password(
      'a password: with, commas\n',
      '--name',
      'ida',
      '--role',
      'viewer',
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^ida:viewer:\$scrypt\$ln=14,r=8,p=5\$[\w+/]{22}\$[\w+/]{43}\n$/);
    await restart({ OPS_USERS: `${users},${stdout.trim()}` });
    const ida = await signedIn(ops, { name: 'ida', password: 'a password: with, commas' });
    expect((await ida.see('/')).status).toBe(200);
    await restart();
  });

  test.each([
    ['a short password', 'eleven-char', [], /at least 12 characters/],
    ['an unknown role', 'long-enough-it-is', ['--role', 'root'], /viewer, operator/],
    ['a name that no account may have', 'long-enough-it-is', ['--name', 'a:b'], /letters, digits/],
  ])('refuses %s in one line, and shows nothing of the password', async (_what, input, args, line) => {
    const { code, stdout, stderr } = await password(input, ...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(stderr).toMatch(line);
    expect(stderr).not.toContain(input);
  });
});

describe.skipIf(installedChromium === undefined)('in a browser', () => {
  test('a session outlives a restart, and “Sign out everywhere” ends those of other browsers', async () => {
    const browser = await startChromium();
    try {
      const open = async () => {
        const page = await (await browser.newContext()).newPage();
        await page.goto(`${ops.url}/sign-in`);
        await page.fill('[name=name]', operator.name);
        await page.fill('[name=password]', operator.password);
        await page.click('button');
        await page.waitForURL(`${ops.url}/`);
        return page;
      };
      const [first, second] = [await open(), await open()];
      await waitFor(
        async () => (await redis.scard(`${queue.prefix}:ops-sessions-of:${operator.name}`)) >= 2,
        {
          withinMs: 5_000,
          what: 'both are kept',
        },
      );
      const port = new URL(ops.url).port;
      await restart({ OPS_PORT: port });
      await first.goto(ops.url);
      expect(new URL(first.url()).pathname).toBe('/');
      await first.getByRole('button', { name: 'Sign out everywhere' }).click();
      await first.waitForURL('**/sign-in');
      // The page learns it by itself. Opening another one before would be interrupted by that.
      await second.waitForURL('**/sign-in');
      await second.goto(`${ops.url}/controls`);
      expect(new URL(second.url()).pathname).toBe('/sign-in');
    } finally {
      await browser.close();
    }
  });
});
