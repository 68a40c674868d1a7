import type { Db, Document, MongoClient } from 'mongodb';
import { type Check, good } from './check.ts';

const READ_MS_MAX = 2_000;
const TESTED = '6.0';
const MAJOR_MIN = 6;
/** States in which a member holds data and follows, or only votes. */
const WORKING_STATES = ['PRIMARY', 'SECONDARY', 'ARBITER'];

/** For a MongoDB that answers: its version, and whether it is a replica set whose members all work. */
export async function mongodbChecks(client: MongoClient): Promise<Check[]> {
  const admin = client.db('admin');
  const [{ version }, hello] = await Promise.all([
    admin.command({ buildInfo: 1, maxTimeMS: READ_MS_MAX }),
    admin.command({ hello: 1, maxTimeMS: READ_MS_MAX }),
  ]);
  return [mongodbVersion(String(version)), await replicaSet(admin, hello)];
}

export function mongodbVersion(version: string): Check {
  if (Number(version.split('.')[0]) < MAJOR_MIN) {
    return {
      name: 'MongoDB',
      level: 'bad',
      found: `version ${version} is not supported`,
      mend: `Use MongoDB ${TESTED} or later.`,
    };
  }
  return good(
    'MongoDB',
    `version ${version}${version.startsWith(`${TESTED}.`) ? '' : `; tests run on ${TESTED}`}`,
  );
}

async function replicaSet(admin: Db, hello: Document): Promise<Check> {
  const name = 'replica set';
  if (hello['setName'] === undefined) {
    return {
      name,
      level: 'bad',
      found: 'mongod is no member of a replica set, so nothing is written with a majority',
      mend: 'Start mongod with --replSet and run rs.initiate() once.',
    };
  }
  const status = await admin.command({ replSetGetStatus: 1, maxTimeMS: READ_MS_MAX }).catch(() => undefined);
  const members = (status?.['members'] ?? []) as { name: string; stateStr: string }[];
  if (members.length === 0) {
    const hosts = ((hello['hosts'] ?? []) as string[]).length;
    return good(
      name,
      `${hello['setName']} has a primary and ${hosts} data members; their states cannot be read with this account (clusterMonitor)`,
    );
  }
  const away = members.filter(({ stateStr }) => !WORKING_STATES.includes(stateStr));
  if (away.length === 0) return good(name, `${hello['setName']}: all ${members.length} members work`);
  const left = members.length - away.length;
  return {
    name,
    level: 'warn',
    found: `${left} of ${members.length} members work: ${away.map((member) => `${member.name} is ${member.stateStr}`).join(', ')}`,
    mend: 'Start these members; once fewer than a majority are left, no plant can be created.',
  };
}
