import { runService } from '@plant-store/platform/process/service';

await runService('api', async () => {
  const { readApiConfig: readConfig } = await import('./config.ts');
  const { startApi: start } = await import('./compose.ts');
  return { readConfig, start };
});
