import type { MongoClient } from 'mongodb';
import type { Registry } from 'prom-client';
import { readGauge, readGauges } from '../process/metrics.ts';

/** The client's connections to MongoDB, from the driver's own events: operations that wait for one are the bottleneck. */
export function poolMetrics(registry: Registry, client: MongoClient): void {
  let open = 0;
  let inUse = 0;
  let waiting = 0;
  client.on('connectionCreated', () => open++);
  client.on('connectionClosed', () => open--);
  client.on('connectionCheckOutStarted', () => waiting++);
  client.on('connectionCheckOutFailed', () => waiting--);
  client.on('connectionCheckedOut', () => {
    waiting--;
    inUse++;
  });
  client.on('connectionCheckedIn', () => inUse--);

  readGauges(
    registry,
    {
      name: 'plants_mongodb_pool_connections',
      help: 'Connections of this process to MongoDB by state: in_use, idle. Those that monitor members are not counted.',
      label: 'state',
    },
    () => ({ in_use: inUse, idle: Math.max(0, open - inUse) }),
  );
  readGauge(
    registry,
    'plants_mongodb_pool_connections_max',
    'Connections to one member of MongoDB that this process opens at most.',
    () => client.options.maxPoolSize,
  );
  readGauge(
    registry,
    'plants_mongodb_pool_waiting',
    'Operations of this process that wait for a connection to MongoDB.',
    () => waiting,
  );
}
