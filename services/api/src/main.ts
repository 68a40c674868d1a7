import { createLogger } from '@plant-store/platform/logger';
import { runService } from '@plant-store/platform/service';
import { startApi } from './compose.ts';
import { readApiConfig } from './config.ts';

await runService('api', async () => {
  const { config, secrets } = readApiConfig(process.env);
  const logger = createLogger('api', config.instance, config.logLevel);
  return { running: await startApi(config, secrets, logger), logger };
});
