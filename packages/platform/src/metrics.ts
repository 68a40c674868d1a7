import { collectDefaultMetrics, Registry } from 'prom-client';

/** One registry per process part, so that two services in one test process never share counters. */
export function createRegistry(service: string): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  collectDefaultMetrics({ register: registry });
  return registry;
}
