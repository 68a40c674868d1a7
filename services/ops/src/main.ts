import { runService } from '@plant-store/platform/process/service';

await runService('ops', async () => {
  const { readOpsConfig: readConfig } = await import('./config.ts');
  const { startOps: start } = await import('./compose.ts');
  return { readConfig, start };
});
