import { createLogger } from '@plant-store/platform/logger';
import { runService } from '@plant-store/platform/service';
import { startWorker } from './compose.ts';
import { readWorkerConfig } from './config.ts';

await runService('worker', async () => {
  const { config, secrets } = readWorkerConfig(process.env);
  const logger = createLogger('worker', config.instance, config.logLevel);
  return { running: await startWorker(config, secrets, logger), logger };
});
