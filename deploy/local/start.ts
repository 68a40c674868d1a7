import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { accessToken, keepTokenSource } from './access-token.ts';
import { readLocalConfig } from './config.ts';
import { files, openDataDirectory } from './data-directory.ts';
import { greet } from './greeting.ts';
import { planLocalSystem } from './local-system.ts';
import { writeRunFile } from './run-file.ts';
import { lockDataDirectory, RUN_MARK } from './start-lock.ts';
import { stopRequest } from './stop-request.ts';
import { startSupervisor } from './supervisor.ts';
import { terminal } from './terminal.ts';

/** `npm start`: the whole system on this machine, until Ctrl-C. */
async function start(stopped: Promise<string>): Promise<void> {
  const { config, secrets } = readLocalConfig(process.env);
  const dataDir = openDataDirectory(config.dataDir);
  const run = randomUUID();
  const { ended } = await lockDataDirectory(join(dataDir, files.lock), run);
  const forget = () => {
    for (const file of [files.run, files.token, files.lock]) rmSync(join(dataDir, file), { force: true });
  };
  process.once('exit', forget);
  process.env[RUN_MARK] = run;

  terminal.title('Plant Store');
  if (ended.length > 0) terminal.row('cleared up', `${ended.length} processes of a start that was killed`);
  const system = await planLocalSystem(config, secrets, dataDir, terminal.row);

  let serves = false;
  const keepRunFile = () => {
    if (!serves) return;
    const { url, ops, mongodbUrl: mongodb, redisUrl: redis } = system;
    writeRunFile(join(dataDir, files.run), { url, ops, mongodb, redis, processes: supervisor.processes() });
  };
  const supervisor = startSupervisor(system.stages, {
    logs: join(dataDir, 'logs'),
    say: terminal.event,
    changed: keepRunFile,
  });
  try {
    if ((await Promise.race([supervisor.started, stopped])) === undefined) {
      serves = true;
      keepRunFile();
      keepTokenSource(dataDir, { ...config.tokens, ...(system.authSecret && { secret: system.authSecret }) });
      const token = system.authSecret && (await accessToken(dataDir, { sub: 'local', ttl: '1h' }));
      greet(system, { dataDir, token, seconds: process.uptime() });
    }
    terminal.event(`${await stopped}: draining`);
  } finally {
    serves = false;
    await supervisor.stop();
  }
  terminal.event('stopped');
}

try {
  await start(stopRequest());
  process.exit(0);
} catch (error) {
  terminal.failure((error as Error).message);
  process.exit(1);
}
