import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { writePrometheusTargets } from '@plant-store/local/data/run-file';
import { findOnPath } from '@plant-store/local/servers/binaries/search-path';
import { freePort } from '@plant-store/local/servers/free-port';
import { execa } from 'execa';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { poolMetrics } from '../../packages/platform/src/mongo/pool-metrics.ts';
import { createRegistry } from '../../packages/platform/src/process/metrics.ts';
import { ready } from '../harness/api/api.ts';
import { freshId, postPlant } from '../harness/api/post-plant.ts';
import { opsUsers } from '../harness/ops-users.ts';
import { launch } from '../harness/processes/launch.ts';
import { type Program, startProgram } from '../harness/processes/program.ts';
import { testDatabase, testEnvironment, testQueue } from '../harness/servers/servers.ts';
import { waitFor } from '../harness/wait-for.ts';

const database = testDatabase();
const queue = testQueue();
const services = ['api', 'worker', 'ops'] as const;
const programs = {} as Record<(typeof services)[number], Program>;

beforeAll(async () => {
  const environment = {
    ...testEnvironment({ mongodbUrl: database.url, queue }),
    OPS_USERS: await opsUsers({ name: 'vera', role: 'viewer', password: 'looking-glass-house' }),
    OPS_PORT: '0',
    DRAIN_MS: '0',
  };
  for (const service of services) programs[service] = await startProgram(service, environment);
  await ready(programs.api.internalUrl);
});
afterAll(async () => {
  for (const program of Object.values(programs)) await program.stop();
});

const exposition = async (program: Program) => (await fetch(`${program.internalUrl}/metrics`)).text();

const promtool = findOnPath('promtool');

test.skipIf(promtool === undefined).each(services)(
  'promtool finds no fault in what %s exports',
  async (service) => {
    const { exitCode, stdout, stderr } = await execa(promtool as string, ['check', 'metrics'], {
      input: await exposition(programs[service]),
      reject: false,
    });
    expect({ exitCode, output: stdout + stderr }).toEqual({ exitCode: 0, output: '' });
  },
);

test.each([
  ['api', 'http_requests_total', 'status="200",error="0"'],
  ['api', 'http_requests_total', 'status="500",error="5000"'],
  ['api', 'http_requests_total', 'status="503",error="5001"'],
  ['api', 'http_requests_total', 'status="503",error="5002"'],
  ['api', 'http_request_duration_seconds_count', 'status="503"'],
  ['api', 'plants_commits_total', 'result="unknown"'],
  ['api', 'plants_publications_total', 'result="left_to_relay"'],
  ['worker', 'plants_jobs_total', 'outcome="failed"'],
  ['worker', 'plants_poison_total', ''],
  ['ops', 'plants_ops_sign_ins_total', 'outcome="throttled"'],
  ['ops', 'plants_ops_actions_total', 'outcome="refused"'],
] as const)('%s exports %s{%s} as 0 before it first happens', async (service, name, labels) => {
  const lines = (await exposition(programs[service]))
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`));
  const line = lines.find((candidate) => labels.split(',').every((label) => candidate.includes(label)));
  expect(line).toMatch(/ 0$/);
});

test('no state of the system is exported under two names or by two services', async () => {
  const names = (text: string) =>
    [...text.matchAll(/^# TYPE (\S+) gauge$/gm)]
      .map(([, name]) => name as string)
      .filter((name) => name.startsWith('plants_'));
  const [api, worker, ops] = await Promise.all(
    services.map(async (service) => names(await exposition(programs[service]))),
  );
  const own = (ops ?? []).filter((name) => /^plants_(?:queue|pending|poison|stored|audit)/.test(name));
  expect(own.length).toBeGreaterThan(7);
  for (const name of own) expect([...(api ?? []), ...(worker ?? [])]).not.toContain(name);
});

test('the duration of a create has its status, and a probe has none', async () => {
  const counts = async () => ({
    created: await programs.api.metric('http_request_duration_seconds_count', 'status="200"'),
    refused: await programs.api.metric('http_request_duration_seconds_count', 'status="400"'),
    all: (await exposition(programs.api))
      .split('\n')
      .filter((line) => line.startsWith('http_request_duration_seconds_count'))
      .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0),
  });
  const before = await counts();
  expect((await postPlant(programs.api.url, { id: freshId(), name: 'fern' })).status).toBe(200);
  expect((await postPlant(programs.api.url, { id: '"1"', name: 'fern' })).status).toBe(400);
  for (const path of ['/', '/health', '/plants']) await fetch(programs.api.url + path);
  await waitFor(async () => (await programs.api.metric('http_requests_total', 'status="405"')) === 1, {
    withinMs: 5_000,
    what: 'all are counted',
  });
  expect(await counts()).toEqual({
    created: before.created + 1,
    refused: before.refused + 1,
    all: before.all + 2,
  });
});

test('an operation that waits for a connection shows, and so do the connections in use', async () => {
  const registry = createRegistry('test');
  const client = new MongoClient(database.url, { maxPoolSize: 1 });
  poolMetrics(registry, client);
  const sample = async (name: string, label = '') => {
    const lines = (await registry.metrics()).split('\n');
    return Number(lines.find((line) => line.startsWith(`${name}{`) && line.includes(label))?.split(' ')[1]);
  };
  try {
    const sleep = () => client.db('admin').command({ sleep: 1, millis: 500, lock: 'none' });
    const both = Promise.all([sleep(), sleep()]);
    await waitFor(async () => (await sample('plants_mongodb_pool_waiting')) === 1, {
      withinMs: 5_000,
      what: 'one waits',
    });
    expect(await sample('plants_mongodb_pool_connections', 'in_use')).toBe(1);
    expect(await sample('plants_mongodb_pool_connections_max')).toBe(1);
    await both;
    expect(await sample('plants_mongodb_pool_waiting')).toBe(0);
    expect(await sample('plants_mongodb_pool_connections', 'in_use')).toBe(0);
    expect(await sample('plants_mongodb_pool_connections', 'idle')).toBe(1);
  } finally {
    await client.close();
  }
});

const prometheus = findOnPath('prometheus');
const root = resolve(import.meta.dirname, '../..');

test.skipIf(prometheus === undefined)(
  'a Prometheus that reads the targets of npm start scrapes all, evaluates all rules, and answers every panel',
  async () => {
    const directory = await mkdtemp(join(tmpdir(), 'plant-store-prometheus-'));
    const targets = join(directory, 'targets.json');
    const names = { api: 'api-1', worker: 'worker-1', ops: 'ops' };
    writePrometheusTargets(
      targets,
      services.map((service) => ({ name: names[service], pid: 1, url: programs[service].internalUrl })),
    );
    const config = (await readFile(join(root, 'deploy/prometheus/local.yml'), 'utf8'))
      .replace('../../.local/prometheus-targets.json', targets)
      .replace('rules.yml', join(root, 'deploy/prometheus/rules.yml'))
      .replaceAll(/_interval: 15s/g, '_interval: 1s');
    await writeFile(join(directory, 'prometheus.yml'), config);
    const address = `127.0.0.1:${await freePort()}`;
    const ask = async <T>(path: string): Promise<T> => {
      const answer = await fetch(`http://${address}/api/v1/${path}`);
      const { status, data, error } = (await answer.json()) as { status: string; data: T; error?: string };
      if (status !== 'success') throw new Error(`${path}: ${error}`);
      return data;
    };
    const query = (expression: string) =>
      ask<{ result: { metric: Record<string, string>; value: [number, string] }[] }>(
        `query?query=${encodeURIComponent(expression)}`,
      );
    try {
      await using _server = launch(prometheus as string, [
        `--config.file=${join(directory, 'prometheus.yml')}`,
        `--storage.tsdb.path=${join(directory, 'data')}`,
        `--web.listen-address=${address}`,
      ]);
      await waitFor(async () => (await query('sum(up)')).result[0]?.value[1] === '3', {
        withinMs: 60_000,
        what: 'all three are scraped',
      });
      const { result } = await query('up');
      expect(result.map(({ metric }) => metric['process']).sort()).toEqual(['api-1', 'ops', 'worker-1']);

      type Rules = { groups: { rules: { name: string; health: string }[] }[] };
      const rules = async () => (await ask<Rules>('rules')).groups.flatMap((group) => group.rules);
      await waitFor(async () => (await rules()).every(({ health }) => health === 'ok'), {
        withinMs: 30_000,
        what: 'every rule is evaluated',
      });

      const dashboard = JSON.parse(await readFile(join(root, 'deploy/grafana/plant-store.json'), 'utf8')) as {
        panels: { targets: { expr: string }[] }[];
      };
      for (const { expr } of dashboard.panels.flatMap((panel) => panel.targets)) await query(expr);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  },
);
