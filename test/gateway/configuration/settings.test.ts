import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { gatewayCommand, renderGateway } from '../../../deploy/gateway/gateway-command.ts';
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
