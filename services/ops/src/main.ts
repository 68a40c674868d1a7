import { runService } from '@plant-store/platform/service';
import { startOps } from './compose.ts';
import { readOpsConfig } from './config.ts';

await runService('ops', () => startOps(readOpsConfig(process.env)));
