import { readFileSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { type Check, good } from './check.ts';

const ANSWER_MS_MAX = 3_000;
const DISK_WARN = 0.85;
const DISK_BAD = 0.95;

type LocalSystem = {
  url: string;
  ops: { url: string };
  processes: { name: string; pid: number; url?: string }[];
};

/** The processes and ports of the local system, as its run.json names them, and the disk of its DATA_DIR. */
export async function localChecks(dataDir: string): Promise<Check[]> {
  const run = JSON.parse(readFileSync(join(dataDir, 'run.json'), 'utf8')) as LocalSystem;
  const [processes, ports, disk] = await Promise.all([
    Promise.all(run.processes.map((process) => processChecks(process, dataDir))),
    portChecks(run),
    dataDisk(dataDir),
  ]);
  const faults = processes.flat();
  return [
    ...(faults.length > 0 ? faults : [good('processes', run.processes.map(({ name }) => name).join(', '))]),
    ...ports,
    disk,
  ];
}

async function processChecks(
  { name, pid, url }: LocalSystem['processes'][number],
  dataDir: string,
): Promise<Check[]> {
  const log = `tail -n 20 ${join(dataDir, 'logs', `${name}.log`)}`;
  if (!isAlive(pid)) {
    return [
      {
        name: 'processes',
        level: 'bad',
        found: `${name} (process ${pid}) does not run`,
        mend: `"npm start" starts it again; if it does not, read its log: ${log}`,
      },
    ];
  }
  if (url === undefined) return [];
  const status = await answerOf(`${url}/readyz`);
  if (status === 200) return [];
  const found =
    status === undefined ? `does not answer on ${url}` : `is not ready (${url}/readyz: ${status})`;
  return [
    {
      name: 'processes',
      level: 'bad',
      found: `${name} (process ${pid}) ${found}`,
      mend: `Read its log: ${log}`,
    },
  ];
}

async function portChecks({ url, ops }: LocalSystem): Promise<Check[]> {
  const [api, console_] = await Promise.all([
    answerOf(`${url}/plants`, { method: 'POST' }),
    answerOf(`${ops.url}/sign-in`),
  ]);
  return [
    api === 401
      ? good('public port', `${url} asks for a token, as it should`)
      : port('public port', url, api, 'api-1.log and gateway.log'),
    console_ === 200 || console_ === 303
      ? good('console port', `${ops.url} answers`)
      : port('console port', ops.url, console_, 'ops.log'),
  ];
}

function port(name: string, url: string, status: number | undefined, logs: string): Check {
  return {
    name,
    level: 'bad',
    found: status === undefined ? `nothing answers on ${url}` : `${url} answers with ${status}`,
    mend: `Read ${logs}; see whether another program has the port: ss -ltnp`,
  };
}

async function dataDisk(dataDir: string): Promise<Check> {
  const { blocks, bavail } = await statfs(dataDir);
  const used = blocks === 0 ? 0 : 1 - bavail / blocks;
  const found = `${Math.floor(used * 100)} % in use`;
  if (used < DISK_WARN) return good('disk of DATA_DIR', found);
  return {
    name: 'disk of DATA_DIR',
    level: used < DISK_BAD ? 'warn' : 'bad',
    found,
    mend: `Make room: du -sh ${dataDir}/* | sort -h | tail`,
  };
}

/** Signal 0 only asks whether the process exists; EPERM says that it does, and belongs to somebody else. */
function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function answerOf(url: string, init: RequestInit = {}): Promise<number | undefined> {
  try {
    const answer = await fetch(url, {
      ...init,
      redirect: 'manual',
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    });
    await answer.body?.cancel();
    return answer.status;
  } catch {
    return undefined;
  }
}
