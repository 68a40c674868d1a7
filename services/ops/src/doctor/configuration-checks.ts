import { statSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigurationError } from '@plant-store/platform/configuration/configuration';
import { readOpsConfig } from '../config.ts';
import { type Check, good } from './check.ts';

const NODE_MAJOR = 24;
const NODE_MINOR_MIN = 12;

/** Files of DATA_DIR that hold secrets, or say where they are. */
const PRIVATE_FILES = [
  'run.json',
  'auth-secret',
  'anchor-key.pem',
  'ops-users',
  'ops-hashes.json',
  'token.json',
];
const OTHERS_MODE = 0o077;

export type Configured = {
  mongodb: string;
  redis: string | undefined;
  /** The local system's directory, when it is a local system. */
  dataDir: string | undefined;
};

/** Settings that are wrong wherever the servers are. No value of a setting is repeated. */
export function configurationChecks(
  environment: NodeJS.ProcessEnv,
  { mongodb, redis, dataDir }: Configured,
): Check[] {
  const faults: Check[] = [
    ...addressFaults(mongodb, redis),
    ...(dataDir === undefined ? consoleFaults(environment) : privateFiles(dataDir)),
  ];
  const from = dataDir === undefined ? 'from MONGODB_URL and REDIS_URL' : `from ${join(dataDir, 'run.json')}`;
  return [
    nodeVersion(process.versions.node),
    ...(faults.length > 0 ? faults : [good('configuration', `addresses come ${from}`)]),
  ];
}

export function nodeVersion(version: string): Check {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major === NODE_MAJOR && minor >= NODE_MINOR_MIN) return good('Node', `version ${version}`);
  return {
    name: 'Node',
    level: major < NODE_MAJOR ? 'bad' : 'warn',
    found: `version ${version}, which was not tested`,
    mend: `Use Node ${NODE_MAJOR}.${NODE_MINOR_MIN} or a later ${NODE_MAJOR}.`,
  };
}

function addressFaults(mongodb: string, redis: string | undefined): Check[] {
  const name = 'configuration';
  const faults: Check[] = [];
  if (/[?&]directConnection=true/i.test(mongodb)) {
    faults.push({
      name,
      level: 'warn',
      found: 'MONGODB_URL has directConnection=true: after a failover, services keep asking the old primary',
      mend: 'Name all members and replicaSet=… instead.',
    });
  }
  if (redis === undefined) {
    faults.push({
      name,
      level: 'bad',
      found: 'REDIS_URL is not set, so the queue cannot be looked at',
      mend: 'Set REDIS_URL as the services have it.',
    });
  } else if (!/^rediss?:\/\//.test(redis)) {
    faults.push({
      name,
      level: 'bad',
      found: 'REDIS_URL does not begin with redis:// or rediss://',
      mend: 'Correct REDIS_URL.',
    });
  }
  return faults;
}

/**
 * The console's own settings, where this environment has them. Those of a local system are not judged: `npm start` also
 * takes passwords in clear, and refuses what it cannot use.
 */
function consoleFaults(environment: NodeJS.ProcessEnv): Check[] {
  if (!environment['OPS_USERS'] && !environment['OPS_USERS_FILE']) return [];
  const local = { MONGODB_URL: 'mongodb://localhost', REDIS_URL: 'redis://localhost' };
  const { MONGODB_URL_FILE: _mongodb, REDIS_URL_FILE: _redis, ...others } = environment;
  try {
    readOpsConfig({ ...others, ...local });
    return [];
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    const found = error.message.replace(/^configuration: /, '');
    return [
      {
        name: 'configuration',
        level: 'bad',
        found,
        mend: 'Correct these settings; docs/operations.md lists all.',
      },
    ];
  }
}

function privateFiles(dataDir: string): Check[] {
  const open = PRIVATE_FILES.filter((file) => {
    const mode = statSync(join(dataDir, file), { throwIfNoEntry: false })?.mode ?? 0;
    return (mode & OTHERS_MODE) !== 0;
  });
  if (open.length === 0) return [];
  return [
    {
      name: 'configuration',
      level: 'warn',
      found: `others on this machine may read ${open.join(', ')} in ${dataDir}, which hold secrets`,
      mend: `Run: ${open.map((file) => `chmod 600 ${join(dataDir, file)}`).join(' && ')}`,
    },
  ];
}
