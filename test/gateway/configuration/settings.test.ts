import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { gatewayCommand, renderGateway } from '../../../deploy/gateway/gateway-command.ts';
import { makeCertificate } from '../harness/certificate.ts';
import { installedNginx } from '../harness/running-gateway.ts';

const run = promisify(execFile);
const start = fileURLToPath(new URL('../../../deploy/gateway/start.sh', import.meta.url));
const options = {
  listen: { host: '127.0.0.1', port: 8080 },
  internal: { host: '::1', port: 8081 },
  upstreams: ['127.0.0.1:3001', '[::1]:3002'],
  readinessUpstreams: ['127.0.0.1:9001', '[::1]:9002'],
  directory: '/tmp/a directory',
};

describe.skipIf(installedNginx === undefined)('settings', () => {
  test.each([
    ['GATEWAY_UPSTREAMS', ''],
    ['GATEWAY_UPSTREAMS', 'a:1; }'],
    ['GATEWAY_LISTEN', '8080; server_name x'],
    ['GATEWAY_DIRECTORY', '/tmp/"x'],
    ['GATEWAY_LIMITS', 'maybe'],
    ['GATEWAY_LOG', 'some'],
    ['GATEWAY_RATE', '0'],
    ['GATEWAY_BURST', '1.5'],
    ['GATEWAY_CONNECTIONS', '-1'],
    ['GATEWAY_WORKERS', 'auto'],
    ['GATEWAY_MEMORY', '512m'],
    ['GATEWAY_MEMORY', '40'],
    ['GATEWAY_READINESS_UPSTREAMS', 'a:1; }'],
    ['GATEWAY_TLS_DIRECTORY', '/nowhere'],
    ['GATEWAY_NGINX', 'no-such-nginx'],
  ])('%s=%s ends the start with one line that names what is wrong, and exit code 1', async (name, value) => {
    const directory = await mkdtemp(join(tmpdir(), 'gateway-'));
    const env = {
      ...process.env,
      GATEWAY_UPSTREAMS: '127.0.0.1:9',
      GATEWAY_DIRECTORY: directory,
      [name]: value,
    };
    const failure = await run('sh', [start], { env }).catch(
      (error: { code: number; stderr: string }) => error,
    );
    await rm(directory, { recursive: true });
    expect(failure).toMatchObject({ code: 1 });
    expect(failure.stderr).toMatch(
      name === 'GATEWAY_NGINX' ? /^gateway: no-such-nginx .*\n$/ : new RegExp(`^gateway: ${name} .*\\n$`),
    );
  });

  test('a port in use is named', async () => {
    const { createServer } = await import('node:http');
    const server = createServer().listen(0, '127.0.0.1');
    const { port } = await new Promise<{ port: number }>((resolve) =>
      server.once('listening', () => resolve(server.address() as { port: number })),
    );
    const directory = await mkdtemp(join(tmpdir(), 'gateway-'));
    const { command, args, env } = gatewayCommand({
      ...options,
      directory,
      listen: { host: '127.0.0.1', port },
      internal: { host: '127.0.0.1', port },
    });
    const failure = await run(command, args, { env: { ...process.env, ...env } }).catch((error) => error);
    server.close();
    await rm(directory, { recursive: true });
    expect(failure.code).toBe(1);
    expect(failure.stderr).toContain(`127.0.0.1:${port}`);
  });

  test.each([
    ['1.22.1', 1_000],
    ['1.25.2', 1_000],
    ['1.25.3', 100_000],
    ['1.30.4', 100_000],
  ])('nginx %s serves %i requests on a TLS connection at most', async (version, requests) => {
    await using certificate = await makeCertificate();
    const text = await renderGateway({
      ...options,
      tls: { directory: certificate.directory, listen: { host: '127.0.0.1', port: 8443 } },
      settings: { GATEWAY_NGINX: await nginxThatClaims(version) },
    });
    const tls = text.slice(text.indexOf('listen 127.0.0.1:8443'));
    expect(/keepalive_requests (\d+);/.exec(tls)?.[1]).toBe(`${requests}`);
  });

  test.each([
    { memory: '96', connections: 1_290, requests: 645, largeBodies: 161, idle: 322 },
    { memory: '128', connections: 2_027, requests: 1_013, largeBodies: 253, idle: 506 },
  ])('$memory MiB serve $connections connections, whatever the host has', async ({ memory, ...bounds }) => {
    const text = await renderGateway({
      ...options,
      settings: { GATEWAY_MEMORY: memory, GATEWAY_LIMITS: 'on' },
    });
    const bound = (directive: string) => Number(new RegExp(`${directive} (\\d+);`).exec(text)?.[1]);
    expect(bound('worker_processes')).toBe(1);
    expect(bound('worker_connections')).toBe(bounds.connections);
    expect(bound('limit_conn all_requests')).toBe(bounds.requests);
    expect(bound('limit_conn large_bodies')).toBe(bounds.largeBodies);
    expect(bound('keepalive')).toBe(bounds.idle);
  });

  test('by default a head has 5 s, a pause of a body or an answer 10 s, an idle connection 60 s', async () => {
    const text = await renderGateway(options);
    for (const line of [
      'client_header_timeout 5s;',
      'client_body_timeout 10s;',
      'send_timeout 10s;',
      'keepalive_timeout 60s;',
    ]) {
      expect(text).toContain(line);
    }
  });

  test.each([
    { set: { GATEWAY_MEMORY: '128', GATEWAY_WORKERS: '4' }, connections: 368, idle: 92 },
    { set: { GATEWAY_WORKERS: '2', GATEWAY_WORKER_CONNECTIONS: '4000' }, connections: 4_000, idle: 1_000 },
  ])(
    'of the $connections connections of each worker process, $idle may be idle ones to replicas',
    async ({ set, connections, idle }) => {
      const text = await renderGateway({ ...options, settings: set });
      expect(text).toContain(`worker_connections ${connections};`);
      expect(text).toContain(`keepalive ${idle};`);
    },
  );

  test('a burst of connections waits at each public listener, also with TLS', async () => {
    await using certificate = await makeCertificate();
    const tls = { directory: certificate.directory, listen: { host: '127.0.0.1', port: 8443 } };
    for (const GATEWAY_NGINX of await Promise.all(['1.22.1', '1.30.4'].map(nginxThatClaims))) {
      const text = await renderGateway({ ...options, tls, settings: { GATEWAY_NGINX } });
      expect(text).toMatch(/^ +listen 127\.0\.0\.1:8443 ssl .*backlog=4096;$/m);
      expect(text).toContain('listen 127.0.0.1:8080 default_server backlog=4096;');
    }
  });

  test('every address and every path with a space in it reaches nginx', async () => {
    const text = await renderGateway(options);
    for (const line of [
      'listen 127.0.0.1:8080 default_server backlog=4096;',
      'listen [::1]:8081 default_server;',
      'server 127.0.0.1:3001 max_fails=1 fail_timeout=1s;',
      'server [::1]:3002 max_fails=1 fail_timeout=1s;',
      'server 127.0.0.1:9001 max_fails=0;',
      'server [::1]:9002 max_fails=0;',
      'pid "/tmp/a directory/nginx.pid";',
    ]) {
      expect(text).toContain(line);
    }
    expect(text).not.toMatch(/\$\{|^\s*#(if|each|end)\b/m);
  });
});

/** A program that answers as this release of nginx does when it is asked for its version. */
async function nginxThatClaims(version: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'nginx-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const path = join(directory, 'nginx');
  await writeFile(path, `#!/bin/sh\necho 'nginx version: nginx/${version}' >&2\n`, { mode: 0o700 });
  return path;
}
