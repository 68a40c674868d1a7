import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { renderGateway } from '../../../deploy/gateway/gateway-command.ts';
import { makeCertificate } from '../harness/certificate.ts';
import { openFilesMax } from '../harness/open-files.ts';
import { installedNginx } from '../harness/running-gateway.ts';

const read = (path: string) => readFile(new URL(`../../../${path}`, import.meta.url), 'utf8');

test('the gateway README names every setting of render.sh with its default, and no other', async () => {
  const script = await read('deploy/gateway/render.sh');
  const defaults = [...script.matchAll(/^export (GATEWAY_\w+)="\$\{\1:-(.*)\}"$/gm)].map(
    ([, name, value]) => `${name} ${value || '(none)'}`,
  );
  const table = (await read('deploy/gateway/README.md')).matchAll(
    /^\| `(GATEWAY_\w+)` \| (?:`([^`]+)`|(\w+))/gm,
  );
  const documented = [...table].map(([, name, value]) => `${name} ${value ?? '(none)'}`);
  expect(defaults.length).toBeGreaterThan(15);
  expect(documented.sort()).toEqual(defaults.sort());
});

test.skipIf(installedNginx === undefined)(
  'the gateway README tells how many connections each size of memory serves',
  async () => {
    await using certificate = await makeCertificate();
    // Fewer where the system allows fewer open files, 64 of which are for other things.
    const filesMax = (await openFilesMax()) - 64;
    const connectionsWithin = async (memory: string, tls: boolean) => {
      const text = await renderGateway({
        listen: { host: '127.0.0.1', port: 8080 },
        internal: { host: '127.0.0.1', port: 8081 },
        upstreams: ['127.0.0.1:3001'],
        readinessUpstreams: ['127.0.0.1:9001'],
        directory: '/tmp/gateway',
        ...(tls && {
          tls: { directory: certificate.directory, listen: { host: '127.0.0.1', port: 8443 } },
        }),
        settings: { GATEWAY_MEMORY: memory },
      });
      return Number(/worker_connections (\d+);/.exec(text)?.[1]);
    };
    const table = (await read('deploy/gateway/README.md')).matchAll(
      /^\| (\d+) MiB \| ([\d,]+) \(TLS: ([\d,]+)\)/gm,
    );
    const rows = [...table].map(([, ...figures]) => figures.map((figure) => figure.replaceAll(',', '')));
    expect(rows.length).toBeGreaterThanOrEqual(4);
    for (const [memory = '', plain, withTls] of rows) {
      expect(await connectionsWithin(memory, false), memory).toBe(Math.min(Number(plain), filesMax));
      expect(await connectionsWithin(memory, true), memory).toBe(Math.min(Number(withTls), filesMax));
    }
  },
);

test('.env.example names every setting of the compose files with its default, and no other', async () => {
  const compose = (await read('docker-compose.yml')) + (await read('deploy/docker/docker-compose.tls.yml'));
  const settings = new Map<string, string>();
  for (const [, name, kind, value] of compose.matchAll(/\$\{([A-Z_]+)(:-|-|:\?)([^}]*)\}/g)) {
    settings.set(name as string, kind === ':?' ? '(required)' : (value as string));
  }
  settings.set('COMPOSE_PROFILES', ''); // compose's own

  const example = await read('.env.example');
  const named = new Map<string, string>();
  for (const [, off, name, value] of example.matchAll(/^(# )?([A-Z_]+)=(.*)$/gm)) {
    const generated = (value as string).endsWith('generate');
    named.set(name as string, off === undefined && generated ? '(required)' : (value as string));
  }
  // One of three is required, which compose cannot say; TLS_DIRECTORY is, with TLS.
  expect(named.get('AUTH_SECRET')).toBe('(required)');
  expect(settings.get('TLS_DIRECTORY')).toBe('(required)');
  for (const [name, value] of [...settings].filter(
    ([name]) => name !== 'AUTH_SECRET' && name !== 'TLS_DIRECTORY',
  )) {
    expect(named.get(name), name).toBe(value);
  }
  expect([...named.keys()].sort()).toEqual([...settings.keys()].sort());
});

test('with TLS the gateway is told of all the memory that compose gives it', async () => {
  const compose = await read('deploy/docker/docker-compose.tls.yml');
  const [, memory] = /^ +GATEWAY_MEMORY: (\d+)$/m.exec(compose) ?? [];
  const [, limit] = /^ +mem_limit: (\d+)m$/m.exec(compose) ?? [];
  expect(Number(memory)).toBeGreaterThan(512);
  expect(memory).toBe(limit);
});

test('the compose file holds no secret, and a missing one says what to do', async () => {
  const compose = await read('docker-compose.yml');
  for (const name of ['MONGODB_API_PASSWORD', 'MONGODB_ADMIN_PASSWORD', 'REDIS_PASSWORD', 'OPS_USERS']) {
    const uses = [...compose.matchAll(new RegExp(`\\$\\{${name}([^}]*)\\}`, 'g'))].map(([, rest]) => rest);
    expect(uses.length, name).toBeGreaterThan(0);
    for (const use of uses) expect(use).toBe(':?is missing - sh deploy/docker/new-env.sh makes one');
  }
});
