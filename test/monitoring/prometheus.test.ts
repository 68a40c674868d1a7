import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findOnPath } from '@plant-store/local/servers/binaries/search-path';
import { execa } from 'execa';
import { describe, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const rules = read('deploy/prometheus/rules.yml');
const dashboard = JSON.parse(read('deploy/grafana/plant-store.json')) as {
  panels: { title: string; targets: { expr: string }[] }[];
};

/** Every metric that exists: test/system/metrics.test.ts compares this table with the processes. */
const documented = new Set(
  [...read('docs/operations.md').matchAll(/^\| `((?:plants|http)_\w+)[`{]/gm)].map(([, name]) => name),
);
const recorded = new Set([...rules.matchAll(/record: (\S+)/g)].map(([, name]) => name));
const sections = [...read('docs/runbook.md').matchAll(/^## (.+)$/gm)].map(([, title = '']) =>
  title.toLowerCase().replaceAll(' ', '-'),
);

const promtool = findOnPath('promtool');
if (promtool === undefined) {
  const missing = 'no promtool is installed (apt-get install prometheus)';
  if (process.env['CI'] === 'true') throw new Error(`alert rules cannot be tried: ${missing}`);
  process.stderr.write(`\n!!! ALERT RULES ARE NOT TRIED: ${missing}\n\n`);
}

describe.skipIf(promtool === undefined)('promtool', () => {
  test.each([
    ['check', 'rules', 'deploy/prometheus/rules.yml'],
    ['test', 'rules', 'deploy/prometheus/rules.test.yml'],
    ['check', 'config', 'deploy/prometheus/prometheus.yml'],
    ['check', 'config', 'deploy/prometheus/local.yml'],
  ])(
    '%s %s %s succeeds',
    async (command, what, file) => {
      const { stdout } = await execa(promtool as string, [command, what, file], { cwd: root });
      expect(stdout).toContain('SUCCESS');
    },
    120_000,
  );
});

/** Names in an expression, without what Prometheus adds to a histogram's. */
function metricsOf(expression: string): string[] {
  return [...expression.matchAll(/\b(?:plants[_:]|http_)[\w:]+/g)].map(([name]) =>
    recorded.has(name) || documented.has(name) ? name : name.replace(/_(?:bucket|sum|count)$/, ''),
  );
}

test('every alert asks for metrics that exist', () => {
  const names = [...rules.matchAll(/expr: (.+)$/gm)].flatMap(([, expression = '']) => metricsOf(expression));
  expect(names.length).toBeGreaterThan(30);
  expect(names.filter((name) => !documented.has(name) && !recorded.has(name))).toEqual([]);
});

test('every panel of the dashboard asks for metrics that exist', () => {
  expect(dashboard.panels.length).toBeGreaterThan(15);
  for (const { title, targets } of dashboard.panels) {
    const names = targets.flatMap(({ expr }) => metricsOf(expr));
    expect(
      names.filter((name) => !documented.has(name) && !recorded.has(name)),
      title,
    ).toEqual([]);
  }
});

test('every alert names a section of the runbook that exists', () => {
  const alerts = rules.match(/- alert: /g) ?? [];
  const named = [...rules.matchAll(/runbook: docs\/runbook\.md#(\S+)/g)].map(([, section]) => section);
  expect(named).toHaveLength(alerts.length);
  expect(named.filter((section) => !sections.includes(section as string))).toEqual([]);
});

test('every finding that lasts has an alert, but for what an operator did', async () => {
  const { FINDING_IDS } = await import('../../services/ops/src/findings/diagnose.ts');
  const covered = [...rules.matchAll(/runbook\.md#(\S+)/g)].map(([, section]) => section);
  const rest = FINDING_IDS.filter((id) => !covered.includes(id));
  expect(rest).toEqual(['queue-paused', 'foreign-jobs', 'jobs-in-unused-states']);
});

test('Prometheus scrapes the port at which the internal listeners of the images listen', () => {
  const [, port] = /INTERNAL_PORT=(\d+)/.exec(read('deploy/docker/Dockerfile')) ?? [];
  expect(read('deploy/prometheus/prometheus.yml')).toMatch(new RegExp(`^ +port: ${port}$`, 'm'));
});

describe('the profile "monitoring" of docker-compose.yml', () => {
  const compose = read('docker-compose.yml');
  const service = (name: string) =>
    new RegExp(`^  ${name}:\\n((?:    .*\\n|\\n(?=    ))+)`, 'm').exec(compose)?.[1] ?? '';

  test.each(['prometheus', 'grafana'])(
    '%s is confined as all services, of a fixed version, and on this machine alone',
    (name) => {
      const definition = service(name);
      expect(definition).toContain('<<: *service');
      expect(definition).toContain('profiles: [monitoring]');
      expect(definition).toMatch(/image: \$\{\w+:-[\w/]+:v?\d+\.\d+\.\d+\}/);
      expect(definition).toMatch(/ports: \["127\.0\.0\.1:/);
    },
  );

  test('what it mounts is there, and Grafana asks the Prometheus beside it', () => {
    const mounts = [...(service('prometheus') + service('grafana')).matchAll(/["\s](\.\/[\w./-]+):\//g)];
    expect(mounts.length).toBe(3);
    for (const [, path = ''] of mounts) expect(existsSync(join(root, path)), path).toBe(true);
    expect(read('deploy/grafana/provisioning/datasources/prometheus.yml')).toContain(
      'url: http://prometheus:9090',
    );
    const [, directory] =
      /path: (\S+) \}/.exec(read('deploy/grafana/provisioning/dashboards/plant-store.yml')) ?? [];
    expect(service('grafana')).toContain(`:${directory}/plant-store.json:ro`);
  });
});
