import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { greet } from '../cli/greeting.ts';
import { terminal } from '../cli/terminal.ts';
import { type LocalConfig, readLocalConfig } from '../config.ts';
import { accessToken, keepTokenSource } from '../data/access-token.ts';
import { files, openDataDirectory } from '../data/data-directory.ts';
import { endRecordedProcesses, readRecord, recordProcesses } from '../data/process-record.ts';
import { writePrometheusTargets, writeRunFile } from '../data/run-file.ts';
import { lockUntilExit } from '../data/start-lock.ts';
import { StartError } from '../start-error.ts';
import { type RunningProcess, startSupervisor } from '../supervisor/supervisor.ts';
import { type LocalSystem, planLocalSystem } from './local-system.ts';

/** The whole system on this machine, from the first line on the terminal until `stopped` resolves and all is gone. */
export async function runLocalSystem(stopped: Promise<string>): Promise<void> {
  const { config, secrets } = readLocalConfig(process.env);
  const dataDir = openDataDirectory(config.dataDir);
  terminal.title('Plant Store');
  lock(dataDir);

  const planning = endLeftProcesses(dataDir).then(() =>
    planLocalSystem(config, secrets, dataDir, terminal.row),
  );
  const system = await Promise.race([planning, stopped.then(() => undefined)]);
  if (system === undefined) return terminal.event('stopped before anything was started');

  const runFile = runFileOf(system, dataDir);
  const supervisor = startSupervisor(system.stages, {
    logs: join(dataDir, 'logs'),
    tell: terminal.event,
    changed: runFile.keep,
  });
  try {
    if ((await Promise.race([supervisor.started, stopped])) === undefined) {
      runFile.publish();
      const token = await tokenFor(system, config, dataDir);
      greet(system, { dataDir, token, seconds: process.uptime() });
    }
    terminal.event(`${await stopped}: draining`);
  } finally {
    runFile.withdraw();
    await supervisor.stop();
  }
  terminal.event('stopped');
}

/** @throws StartError when another one runs there. */
function lock(dataDir: string): void {
  if (!lockUntilExit(join(dataDir, files.lock))) {
    const { start } = readRecord(join(dataDir, files.processes));
    throw new StartError(
      `Plant Store already runs on this DATA_DIR (pid ${start}): stop it, or set DATA_DIR, PORT and OPS_PORT to others`,
    );
  }
  process.once('exit', () => {
    for (const file of [files.run, files.token, files.prometheusTargets])
      rmSync(join(dataDir, file), { force: true });
  });
}

async function endLeftProcesses(dataDir: string): Promise<void> {
  const ended = await endRecordedProcesses(join(dataDir, files.processes));
  if (ended > 0) terminal.row('ended', `${ended} processes that a killed start had left running`);
}

/**
 * Keeps run.json and the record of processes current. When the disk is full, the system goes on, and the files are
 * written again at the next change.
 */
function runFileOf({ url, ops, mongodbUrl: mongodb, redisUrl: redis }: LocalSystem, dataDir: string) {
  let processes: RunningProcess[] = [];
  let serves = false;
  const write = () => {
    try {
      recordProcesses(
        join(dataDir, files.processes),
        processes.map(({ pid }) => pid),
      );
      if (!serves) return;
      writeRunFile(join(dataDir, files.run), { url, ops, mongodb, redis, processes });
      writePrometheusTargets(join(dataDir, files.prometheusTargets), processes);
    } catch (error) {
      terminal.event(`${files.run} cannot be kept current: ${(error as Error).message}`);
    }
  };
  return {
    keep: (current: RunningProcess[]) => {
      processes = current;
      write();
    },
    publish: () => {
      serves = true;
      write();
    },
    withdraw: () => {
      serves = false;
    },
  };
}

/** For the person in front of the terminal; undefined where tokens come from elsewhere. */
async function tokenFor(
  { authSecret }: LocalSystem,
  { tokens }: LocalConfig,
  dataDir: string,
): Promise<string | undefined> {
  keepTokenSource(dataDir, { ...tokens, ...(authSecret !== undefined && { secret: authSecret }) });
  return authSecret === undefined ? undefined : accessToken(dataDir, { sub: 'local', ttl: '1h' });
}
