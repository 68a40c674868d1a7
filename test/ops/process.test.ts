import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { processesOf } from '../harness/processes/processes.ts';
import { testEnvironment } from '../harness/servers/servers.ts';
import { underLoadMs, waitFor } from '../harness/wait-for.ts';
import { operator, runConsole, startConsole } from './running-console.ts';

const servers = testEnvironment();

test('every fault of the configuration is named in one line, no password is, and the exit code is 1', async () => {
  const { ended } = runConsole({
    MONGODB_URL: undefined,
    REDIS_URL: servers.REDIS_URL,
    OPS_PORT: '70000',
    OPS_ORIGIN: 'https://ops.example.org/path',
    OPS_USERS:
      'olga:operator:tooshort,vera:admin:looking-glass-house,,olga:viewer,a b:viewer:another-password',
  });
  const { code, stdout, stderr } = await ended;
  expect(code).toBe(1);
  const text = stdout + stderr;
  expect(text.trim().split('\n')).toHaveLength(1);
  expect(text).toMatch(/^ops: configuration: /);
  expect(text).toContain('MONGODB_URL is required');
  expect(text).toContain('OPS_PORT: must be a whole number');
  for (const secret of ['tooshort', 'looking-glass-house', 'another-password'])
    expect(text).not.toContain(secret);
});

test('users, origin and proxies are judged together, each user by place', async () => {
  const { ended } = runConsole({
    ...servers,
    OPS_ORIGIN: 'https://ops.example.org',
    OPS_USERS: 'olga:operator:tooshort,vera:admin:looking-glass-house',
  });
  const { code, stdout, stderr } = await ended;
  expect(code).toBe(1);
  expect((stdout + stderr).trim()).toBe(
    'ops: configuration: OPS_USERS entry 1: the password must not stand there in clear: ' +
      '"npm run ops -- password" prints the entry with its hash; ' +
      'OPS_USERS entry 2: the role must be viewer or operator; ' +
      'OPS_ORIGIN is https: name the proxy that terminates TLS in TRUSTED_PROXIES',
  );
});

test('a port in use is said in one line, with what to do', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  try {
    const { port } = other.address() as { port: number };
    const { ended } = runConsole({ ...servers, OPS_PORT: String(port) });
    const { code, stdout, stderr } = await ended;
    expect(code).toBe(1);
    expect((stdout + stderr).trim().split('\n')).toHaveLength(1);
    expect(stdout + stderr).toContain('choose another port or stop what listens there');
  } finally {
    other.close();
  }
});

test('on SIGTERM readiness ends first, a request under way is still answered, and the exit is 0 within 10 s', async () => {
  const ops = await startConsole(servers);
  const { port, hostname } = new URL(ops.url);
  const body = String(new URLSearchParams({ name: operator.name, password: operator.password }));
  const socket = connect(Number(port), hostname).setEncoding('utf8');
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk;
  });
  socket.write(
    'POST /sign-in HTTP/1.1\r\nHost: ops\r\nContent-Type: application/x-www-form-urlencoded\r\n' +
      `Content-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`,
  );
  await waitFor(() => received.includes('100 Continue'), {
    withinMs: 15_000,
    what: 'the request is under way',
  });

  const signalled = performance.now();
  process.kill(ops.pid, 'SIGTERM');
  const readiness = `${ops.internalUrl}/readyz`;
  await waitFor(async () => (await fetch(readiness)).status === 503, { withinMs: 2_000, what: 'not ready' });
  socket.write(body);
  await waitFor(() => received.includes('303 See Other'), { withinMs: 15_000, what: 'the answer' });
  expect(received).toContain('HttpOnly');

  expect(await ops.ended).toBe(0);
  expect(performance.now() - signalled).toBeLessThan(underLoadMs(10_000));
  socket.destroy();
});

test('behind TLS the cookie is Secure, and a proxy that hides the scheme is told what it has to send', async () => {
  const ops = await startConsole({
    ...servers,
    OPS_ORIGIN: 'https://ops.example.org',
    TRUSTED_PROXIES: '127.0.0.1/32',
  });
  try {
    const signIn = (headers: Record<string, string>) =>
      fetch(`${ops.url}/sign-in`, {
        method: 'POST',
        redirect: 'manual',
        headers,
        body: new URLSearchParams({ name: operator.name, password: operator.password }),
      });
    const good = { 'x-forwarded-proto': 'https', origin: 'https://ops.example.org' };
    const answer = await signIn(good);
    expect(answer.status).toBe(303);
    expect(answer.headers.getSetCookie()[0]).toMatch(
      /^__Host-ops=.*; Path=\/; .*HttpOnly; Secure; SameSite=Strict/,
    );
    expect(answer.headers.get('strict-transport-security')).toContain('max-age=31536000');

    expect((await signIn({ ...good, origin: 'http://ops.example.org' })).status).toBe(403);
    const plain = await signIn({ origin: 'https://ops.example.org' });
    expect(plain.status).toBe(403);
    expect(await plain.json()).toMatchObject({ error: expect.stringContaining('X-Forwarded-Proto') });
  } finally {
    await ops.close();
  }
});

test('a console that a test leaves behind is found by the run', async () => {
  const ops = await startConsole(servers);
  try {
    expect((await processesOf(tmpdir())).map(({ pid }) => pid)).toContain(ops.pid);
  } finally {
    await ops.close();
  }
});
