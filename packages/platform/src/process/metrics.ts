import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { VERSION } from './version.ts';

/** One registry per process part, so that two services in one test process never share counters. */
export function createRegistry(service: string): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: 'plants_build_info',
    help: 'Always 1; its labels tell which version runs, on which Node.',
    labelNames: ['version', 'node'],
    registers: [registry],
  }).set({ version: VERSION, node: process.version }, 1);
  return registry;
}
