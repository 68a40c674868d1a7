import { mongoAuditLog } from '@plant-store/audit/mongo/mongo-audit-log';
import { createAuditChains, creationChains } from '@plant-store/audit/sealing/audit-chains';
import type { AuditLog } from '@plant-store/audit/sealing/audit-log';
import { type SealingDeps, sealEntries } from '@plant-store/audit/sealing/seal-entries';
import { mongoSearchIndex } from '@plant-store/search/mongo/mongo-search-index';
import type { MongoClient } from 'mongodb';
import { mongoPendingPlants } from '../../services/worker/src/jobs/mongo-pending-plants.ts';
import type { ProcessingDeps } from '../../services/worker/src/jobs/process-commits.ts';

/** Sealing on the real audit log, as one worker's; `wrap` lets a test act between its steps. */
export function sealing(
  client: MongoClient,
  database: string,
  { sealer = 'worker-1', chains = 1, wrap = (log: AuditLog) => log } = {},
): SealingDeps & { collisions: () => number; unknowns: () => number } {
  let collisions = 0;
  let unknowns = 0;
  return {
    log: wrap(mongoAuditLog(client, database)),
    chains: createAuditChains(creationChains(chains), Math.random),
    bounds: { entriesMax: 2_000, bytesMax: 8_000_000 },
    sealer,
    now: () => new Date(),
    random: Math.random,
    on: {
      sealed: () => {},
      collided: () => collisions++,
      unknown: () => unknowns++,
    },
    collisions: () => collisions,
    unknowns: () => unknowns,
  };
}

/** The steps of a batch on the real database, as one worker's. */
export function processing(
  client: MongoClient,
  database: string,
  deps = sealing(client, database),
): ProcessingDeps {
  return {
    pending: mongoPendingPlants(client, database),
    index: mongoSearchIndex(client, database).add,
    audit: async (entries) => {
      const rejected = await sealEntries(deps, entries);
      return new Map(rejected.map(({ entry, reason }) => [entry.plant, reason]));
    },
    on: { indexed: () => {}, strayed: () => {} },
  };
}
