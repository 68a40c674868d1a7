import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';

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

test('the compose file holds no secret, and a missing one says what to do', async () => {
  const compose = await read('docker-compose.yml');
  for (const name of ['MONGODB_API_PASSWORD', 'MONGODB_ADMIN_PASSWORD', 'REDIS_PASSWORD', 'OPS_USERS']) {
    const uses = [...compose.matchAll(new RegExp(`\\$\\{${name}([^}]*)\\}`, 'g'))].map(([, rest]) => rest);
    expect(uses.length, name).toBeGreaterThan(0);
    for (const use of uses) expect(use).toBe(':?is missing - sh deploy/docker/new-env.sh makes one');
  }
});
