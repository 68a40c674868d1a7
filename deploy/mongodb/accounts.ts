import { AUDIT_ANCHORS, AUDIT_BLOCKS, PLANT_SEARCH, PLANTS } from '@plant-store/contracts/plant-document';
import type { Db } from 'mongodb';

/** What an account may do, by collection, in MongoDB's names of actions. */
type Privileges = Readonly<Record<string, readonly string[]>>;

/**
 * One account for each service, with the least it needs. None may change or delete an audit block or create an index:
 * an index that expires documents deletes them. A name is a user's and its role's.
 */
export const accounts: Readonly<Record<string, Privileges>> = {
  'plantstore-api': {
    [PLANTS]: ['find', 'insert'],
  },
  // It lists indexes, since it begins only when those exist that keep the audit single.
  'plantstore-worker': {
    [PLANTS]: ['find', 'update', 'listIndexes'],
    [PLANT_SEARCH]: ['find', 'insert', 'listIndexes'],
    [AUDIT_BLOCKS]: ['find', 'insert', 'listIndexes'],
    // An anchor is noted as emitted once its line is outside the database.
    [AUDIT_ANCHORS]: ['find', 'insert', 'update', 'listIndexes'],
  },
  // It looks whether an index is missing, and whether the disk fills (dbStats, of the database as a whole), and puts
  // what operators do into the audit log.
  'plantstore-ops': {
    [PLANTS]: ['find', 'listIndexes'],
    [PLANT_SEARCH]: ['find', 'listIndexes'],
    [AUDIT_BLOCKS]: ['find', 'insert', 'listIndexes'],
    [AUDIT_ANCHORS]: ['find', 'listIndexes'],
    '': ['dbStats'],
  },
};

/** Creates the account and its role, or makes an existing one equal. A role stands where its user does. */
export async function ensureAccount(
  admin: Db,
  database: string,
  name: string,
  password: string,
): Promise<void> {
  const privileges = Object.entries(accounts[name] ?? {}).map(([collection, actions]) => ({
    resource: { db: database, collection },
    actions,
  }));
  const { roles } = await admin.command({ rolesInfo: name });
  await admin.command({ [roles.length > 0 ? 'updateRole' : 'createRole']: name, privileges, roles: [] });
  const { users } = await admin.command({ usersInfo: name });
  await admin.command({
    [users.length > 0 ? 'updateUser' : 'createUser']: name,
    pwd: password,
    roles: [name],
  });
}

/** One account served all services before each had its own. */
export async function dropSharedAccount(admin: Db): Promise<boolean> {
  const { users } = await admin.command({ usersInfo: 'plantstore' });
  if (users.length > 0) await admin.removeUser('plantstore');
  return users.length > 0;
}
