import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { greet } from './cli/greeting.ts';
import { stopRequest } from './cli/stop-request.ts';
import { terminal } from './cli/terminal.ts';
import { readLocalConfig } from './config.ts';
import { accessToken, keepTokenSource } from './data/access-token.ts';
import { files, openDataDirectory } from './data/data-directory.ts';
import { writeRunFile } from './data/run-file.ts';
import { lockDataDirectory } from './data/start-lock.ts';
import { startSupervisor } from './supervisor/supervisor.ts';
import { planLocalSystem } from './system/local-system.ts';

/** `npm start`: the whole system on this machine, until Ctrl-C. */
async function start(stopped: Promise<string>): Promise<void> {
  const { config, secrets } = readLocalConfig(process.env);
  const dataDir = openDataDirectory(config.dataDir);
  terminal.title('Plant Store');
  const lock = lockDataDirectory(join(dataDir, files.lock), (left) =>
    terminal.row('cleared up', `${left} processes of a start that was killed`),
  );
  process.once('exit', () => {
    for (const file of [files.run, files.token]) rmSync(join(dataDir, file), { force: true });
    lock.unlock();
  });

  const planning = planLocalSystem(config, secrets, dataDir, terminal.row);
  const system = await Promise.race([planning, stopped.then(() => undefined)]);
  if (system === undefined) return terminal.event('stopped before anything was started');

  let serves = false;
  /** A disk that is full for a while must not end what runs: the files are written again at the next change. */
  const keepFiles = () => {
    try {
      writeFiles();
    } catch (error) {
      terminal.event(`${files.run} cannot be kept current: ${(error as Error).message}`);
    }
  };
  const writeFiles = () => {
    const processes = supervisor.processes();
    lock.remember(processes.map(({ pid }) => pid));
    if (!serves) return;
    const { url, ops, mongodbUrl: mongodb, redisUrl: redis } = system;
    writeRunFile(join(dataDir, files.run), { url, ops, mongodb, redis, processes });
  };
  const supervisor = startSupervisor(system.stages, {
    logs: join(dataDir, 'logs'),
    say: terminal.event,
    changed: keepFiles,
  });
  keepFiles();
  try {
    if ((await Promise.race([supervisor.started, stopped])) === undefined) {
      serves = true;
      keepFiles();
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
