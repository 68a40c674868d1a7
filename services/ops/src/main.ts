import { createLogger } from '@plant-store/platform/logger';
import { runService } from '@plant-store/platform/service';
import { startOps } from './compose.ts';
import { readOpsConfig } from './config.ts';

await runService('ops', async () => {
  const { config, secrets } = readOpsConfig(process.env);
  const logger = createLogger('ops', config.instance, config.logLevel);
  return { running: await startOps(config, secrets, logger), logger };
});
