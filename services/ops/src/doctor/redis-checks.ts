import type { Redis } from 'ioredis';
import { type Check, good } from './check.ts';

const VERSION_MIN = [6, 2] as const;
const TESTED = '6.2 and 7.0';

/** For a Redis that answers: its version, its role, and whether what it writes reaches the disk. */
export async function redisChecks(redis: Redis): Promise<Check[]> {
  const facts = factsOf(await redis.info());
  return [redisVersion(facts.get('redis_version') ?? ''), ...persistence(facts)];
}

export function redisVersion(version: string): Check {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [majorMin, minorMin] = VERSION_MIN;
  if (major < majorMin || (major === majorMin && minor < minorMin)) {
    return {
      name: 'Redis',
      level: 'bad',
      found: `version ${version} is not supported`,
      mend: `Use Redis ${majorMin}.${minorMin} to 7.0.`,
    };
  }
  const isTested = version.startsWith('6.2.') || version.startsWith('7.0.');
  return good('Redis', `version ${version}${isTested ? '' : `; tests run on ${TESTED}`}`);
}

/** @param facts of INFO, which also a managed service answers that forbids CONFIG */
export function persistence(facts: ReadonlyMap<string, string>): Check[] {
  const name = 'Redis persistence';
  const faults: Check[] = [];
  if (facts.get('role') === 'slave') {
    faults.push({
      name,
      level: 'bad',
      found: 'REDIS_URL names a replica, which takes no writes',
      mend: 'Let REDIS_URL name the primary.',
    });
  }
  if (facts.get('aof_enabled') === '0') {
    faults.push({
      name,
      level: 'warn',
      found: 'the append-only file is off, so a restart loses waiting jobs (the relay publishes them again)',
      mend: 'Set appendonly yes, in the configuration file too.',
    });
  }
  const failing = ['aof_last_write_status', 'aof_last_bgrewrite_status', 'rdb_last_bgsave_status'].filter(
    (fact) => facts.get(fact) === 'err',
  );
  if (failing.length > 0) {
    faults.push({
      name,
      level: 'bad',
      found: `Redis could not write to its disk (${failing.join(', ')})`,
      mend: 'Look for space and rights in its directory, and read its log.',
    });
  }
  return faults.length > 0 ? faults : [good(name, 'jobs reach the append-only file')];
}

function factsOf(info: string): Map<string, string> {
  return new Map(info.split('\r\n').map((line) => line.split(/:(.*)/s).slice(0, 2) as [string, string]));
}
