import { setTimeout as pause } from 'node:timers/promises';
import { createMongoClient, databaseName, hasPrimary } from '@plant-store/platform/mongo/mongo';
import { createLogger } from '@plant-store/platform/process/logger';
import { Command } from 'commander';
import { type Check, skipped } from '../doctor/check.ts';
import { configurationChecks } from '../doctor/configuration-checks.ts';
import { localChecks } from '../doctor/local-checks.ts';
import { mongodbChecks } from '../doctor/mongodb-checks.ts';
import { redisChecks } from '../doctor/redis-checks.ts';
import { statusChecks } from '../doctor/status-checks.ts';
import { createStatusReader } from '../status/status.ts';
import { withoutSecrets } from './failures.ts';
import { printJson, printLine, shown } from './output.ts';
import { type Addresses, knownAddresses, openQueue } from './system.ts';

/** A first connection, over TLS and a slow network too. */
const CONNECT_MS_MAX = 4_000;
const CONNECT_AGAIN_MS = 200;

export function doctorCommand(): Command {
  return new Command('doctor')
    .description(
      'Checks configuration, versions, replica set, Redis, clocks, indexes, ports, disks, workers, queue and audit anchors, ' +
        'and says what to mend. Exits with 0 when all is well, 1 when something is to be mended, 2 when it could not look.',
    )
    .option('--json', 'the answer as JSON')
    .action(async ({ json }: { json?: true }) => {
      const checks = (await examine(knownAddresses())).map(shownCheck);
      const isWell = checks.every(({ level }) => level === 'good' || level === 'skipped');
      if (json) printJson({ ok: isWell, checks });
      else printChecks(checks, isWell);
      if (!isWell) process.exitCode = 1;
    });
}

async function examine(addresses: Addresses): Promise<Check[]> {
  const { mongodb, dataDir } = addresses;
  await using stack = new AsyncDisposableStack();
  const client = createMongoClient(mongodb, 'plant-store-ops-doctor');
  stack.defer(() => client.close());
  const { queue, redis } = stack.use(await openQueue(addresses));
  const read = createStatusReader(
    { database: client.db(databaseName(mongodb)), queue, redis, queuePrefix: addresses.queuePrefix },
    createLogger('ops', 'doctor', 'silent'),
  );
  const answers = await primaryAnswers();
  const [status, ofMongodb, ofRedis, ofLocal] = await Promise.all([
    read(),
    answers ? checked('MongoDB', () => mongodbChecks(client)) : [],
    redis.status === 'ready' ? checked('Redis', () => redisChecks(redis)) : [],
    dataDir === undefined
      ? [skipped('ports', 'only the local system names them: ask /readyz of each process')]
      : checked('processes', () => localChecks(dataDir)),
  ]);
  return [
    ...configurationChecks(process.env, addresses),
    ...ofMongodb,
    ...ofRedis,
    ...statusChecks(status),
    ...ofLocal,
  ];

  async function primaryAnswers(): Promise<boolean> {
    const deadline = performance.now() + CONNECT_MS_MAX;
    while (!(await hasPrimary(client))) {
      if (performance.now() > deadline) return false;
      await pause(CONNECT_AGAIN_MS);
    }
    return true;
  }
}

/** A server that goes away while it is looked at is a finding, not the end of the examination. */
async function checked(name: string, look: () => Promise<Check[]>): Promise<Check[]> {
  try {
    return await look();
  } catch (error) {
    const found = `it could not be examined: ${(error as Error).message}`;
    return [{ name, level: 'bad', found, mend: 'Run doctor again; read its log if this stays.' }];
  }
}

function shownCheck({ name, level, found, mend }: Check): Check {
  return {
    name,
    level,
    found: withoutSecrets(found),
    ...(mend !== undefined && { mend: withoutSecrets(mend) }),
  };
}

const signs = { good: 'ok', warn: 'WARN', bad: 'BAD', skipped: '–' } as const;

function printChecks(checks: readonly Check[], isWell: boolean): void {
  const width = Math.max(...checks.map(({ name }) => name.length));
  for (const { name, level, found, mend } of checks) {
    printLine(`${signs[level].padEnd(4)}  ${name.padEnd(width)}  ${shown(found)}`);
    if (mend !== undefined) printLine(`${' '.repeat(width + 8)}→ ${shown(mend)}`);
  }
  const wrong = checks.filter(({ level }) => level === 'warn' || level === 'bad').length;
  printLine();
  printLine(isWell ? 'all is well' : `${wrong} to mend`);
}
