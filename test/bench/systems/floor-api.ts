/** Our own API with a store that answers at once: what HTTP, token, validation and group commit cost by themselves. */
import { createBatcher } from '@plant-store/platform/concurrency/batcher';
import { createLogger } from '@plant-store/platform/process/logger';
import { createRegistry } from '@plant-store/platform/process/metrics';
import { readApiConfig } from '../../../services/api/src/config.ts';
import { createPlant } from '../../../services/api/src/domain/create-plant.ts';
import { groupCommit } from '../../../services/api/src/domain/group-commit.ts';
import { recentIds } from '../../../services/api/src/domain/recent-ids.ts';
import { apiEvents } from '../../../services/api/src/events.ts';
import { buildApp } from '../../../services/api/src/http/app.ts';

const { config, secrets } = readApiConfig(process.env);
const logger = createLogger('floor', config.instance, config.logLevel);
const events = apiEvents({
  logger,
  registry: createRegistry('floor'),
  database: { fails: () => {}, works: () => {}, failing: () => false },
  creates: { waiting: () => 0, waitingMax: 1 },
});
const now = () => performance.now();

const commits = createBatcher(
  groupCommit(
    {
      store: { insert: async () => ({ sent: true, occupied: new Set() }), read: async () => new Map() },
      newCommit: () => ({ id: '0'.repeat(24), created: new Date() }),
      publish: () => {},
      now,
    },
    events.defect,
  ),
);
const app = await buildApp({
  http: config.http,
  accessTokens: { tokens: config.tokens, secret: secrets.authSecret as string },
  createPlant: {
    createPlant: createPlant({
      joinCommit: commits.submit,
      readTogether: async () => 'absent',
      recentIds: recentIds(100_000),
    }),
    now,
  },
  admission: { isFull: () => false, refused: () => {} },
  events,
  tracing: undefined,
  closing: () => false,
});
await app.listen({ host: config.http.host, port: config.http.port });
