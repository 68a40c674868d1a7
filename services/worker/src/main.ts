import { runService } from '@plant-store/platform/process/service';

await runService('worker', async () => {
  const { readWorkerConfig: readConfig } = await import('./config.ts');
  const { startWorker: start } = await import('./compose.ts');
  return { readConfig, start };
});
