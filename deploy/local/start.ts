import { stopRequest } from './cli/stop-request.ts';

/** `npm start`. Signals are handled before the rest is loaded, which takes a good part of a start. */
const stopped = stopRequest();
const { terminal } = await import('./cli/terminal.ts');
try {
  const { runLocalSystem } = await import('./system/run-local-system.ts');
  await runLocalSystem(stopped);
  process.exit(0);
} catch (error) {
  terminal.failure((error as Error).message);
  process.exit(1);
}
