import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { opsUsers } from '../harness/ops-users.ts';
import { type Program, startProgram } from '../harness/processes/program.ts';
import { testDatabase, testEnvironment, testQueue } from '../harness/servers/servers.ts';

const root = resolve(import.meta.dirname, '../..');
const services = ['api', 'worker', 'ops'] as const;

const database = testDatabase();
const queue = testQueue();
const programs: Program[] = [];
afterAll(async () => {
  for (const program of programs) await program.stop();
});

type Metric = { name: string; type: string; services: string[]; labels: Set<string> };

/** Node's and the process' own metrics come with prom-client and are not listed. */
const isOwn = (name: string) => !/^(?:nodejs|process)_/.test(name);

let exported: Map<string, Metric>;
const documented = documentedMetrics();

beforeAll(async () => {
  const environment = {
    ...testEnvironment({ mongodbUrl: database.url, queue }),
    OPS_USERS: await opsUsers({ name: 'vera', role: 'viewer', password: 'looking-glass-house' }),
    OPS_PORT: '0',
    DRAIN_MS: '0',
  };
  exported = new Map();
  for (const service of services) {
    const program = await startProgram(service, environment);
    programs.push(program);
    const text = await (await fetch(`${program.internalUrl}/metrics`)).text();
    for (const [, name = '', type = ''] of text.matchAll(/^# TYPE (\S+) (\S+)$/gm)) {
      if (!isOwn(name)) continue;
      const metric = exported.get(name) ?? { name, type, services: [], labels: new Set<string>() };
      metric.services.push(service);
      for (const label of labelsOf(text, name)) metric.labels.add(label);
      exported.set(name, metric);
    }
  }
});

test('every metric that a process exports stands in the table of docs/operations.md, and no other', () => {
  expect(documented.length).toBeGreaterThan(30);
  const row = ({ name, type, services }: Omit<Metric, 'labels'>) =>
    `${name} | ${type} | ${services.join(', ')}`;
  expect(documented.map(row).sort()).toEqual([...exported.values()].map(row).sort());
});

test('every label of a metric is in its row', () => {
  for (const { name, labels } of documented) {
    const undocumented = [...(exported.get(name)?.labels ?? [])].filter((label) => !labels.has(label));
    expect(undocumented, name).toEqual([]);
  }
});

/** Rows `| name{label,label} | type | service, service | meaning |`. */
function documentedMetrics(): Metric[] {
  const rows = readFileSync(resolve(root, 'docs/operations.md'), 'utf8').matchAll(
    /^\| `(\w+)(?:\{([\w,]+)\})?` \| (counter|gauge|histogram) \| ([a-z, ]+) \|/gm,
  );
  return [...rows].map(([, name = '', labels = '', type = '', of = '']) => ({
    name,
    type,
    services: of.split(', '),
    labels: new Set(labels.split(',')),
  }));
}

/** Of its samples so far, without the label `service` that every metric has and a histogram's own. */
function labelsOf(text: string, name: string): string[] {
  const samples = text.matchAll(new RegExp(`^${name}(?:_bucket|_count|_sum)?\\{([^}]*)\\}`, 'gm'));
  const labels = [...samples].flatMap(([, inner = '']) =>
    [...inner.matchAll(/(\w+)="/g)].map(([, label = '']) => label),
  );
  return labels.filter((label) => label !== 'service' && label !== 'le');
}
