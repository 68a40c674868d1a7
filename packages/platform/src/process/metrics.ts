import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { VERSION } from './version.ts';

/** Gauges of prom-client whose names end as a counter's do: promtool objects, and rate() of them means nothing. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

/** One registry per process part, so that two services in one test process never share counters. */
export function createRegistry(service: string): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
  new Gauge({
    name: 'plants_build_info',
    help: 'Always 1; its labels tell which version runs, on which Node.',
    labelNames: ['version', 'node'],
    registers: [registry],
  }).set({ version: VERSION, node: process.version }, 1);
  return registry;
}

/**
 * A gauge that is read at each scrape. While `read` has no value, the gauge has no sample: an old figure or a zero
 * would mislead.
 */
export function readGauge(
  registry: Registry,
  name: string,
  help: string,
  read: () => number | undefined | Promise<number | undefined>,
): void {
  new Gauge({
    name,
    help,
    registers: [registry],
    async collect() {
      const value = await read();
      if (value === undefined) this.remove();
      else this.set(value);
    },
  });
}

/** As `readGauge`, with a sample for each value of one label. */
export function readGauges(
  registry: Registry,
  { name, help, label }: { name: string; help: string; label: string },
  read: () => Readonly<Record<string, number>> | Promise<Readonly<Record<string, number>>>,
): void {
  new Gauge({
    name,
    help,
    labelNames: [label],
    registers: [registry],
    async collect() {
      const values = await read();
      this.reset();
      for (const [value, figure] of Object.entries(values)) this.set({ [label]: value }, figure);
    },
  });
}

/** Whether this process reaches the servers it needs. */
export function serverMetrics(
  registry: Registry,
  up: { mongodb: () => boolean | Promise<boolean>; redis: () => boolean | Promise<boolean> },
): void {
  readGauge(
    registry,
    'plants_mongodb_up',
    'Whether this process sees a primary of MongoDB: 1 or 0.',
    async () => Number(await up.mongodb()),
  );
  readGauge(registry, 'plants_redis_up', 'Whether Redis answers this process: 1 or 0.', async () =>
    Number(await up.redis()),
  );
}
