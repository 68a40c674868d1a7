import {
  AUDIT_ANCHORS,
  AUDIT_BLOCKS,
  OPS_STATE,
  PLANT_SEARCH,
  PLANT_SEARCH_NEXT,
  PLANTS,
} from '@plant-store/contracts/plant-document';
import type { Db } from 'mongodb';

/** What an account may do, by collection, in MongoDB's names of actions. */
type Privileges = Readonly<Record<string, readonly string[]>>;

/**
 * One account for each service, and one for operators' commands, with the least privileges it needs. None may change or delete an audit block, or create
 * an index, since a TTL index deletes documents. The user and its role have the same name.
 */
export const accounts: Readonly<Record<string, Privileges>> = {
  'plantstore-api': {
    [PLANTS]: ['find', 'insert'],
  },
  // It lists indexes, since it starts work only when the unique indexes of the audit log exist.
  'plantstore-worker': {
    [PLANTS]: ['find', 'update', 'listIndexes'],
    [PLANT_SEARCH]: ['find', 'insert', 'listIndexes'],
    // Near the end of a reindex, which it reads of in ops_state, it writes to both indexes.
    [PLANT_SEARCH_NEXT]: ['find', 'insert'],
    [OPS_STATE]: ['find'],
    [AUDIT_BLOCKS]: ['find', 'insert', 'listIndexes'],
    // An anchor is updated as emitted once its line is written outside the database.
    [AUDIT_ANCHORS]: ['find', 'insert', 'update', 'listIndexes'],
  },
  // It checks whether an index is missing and whether the disk fills up (dbStats, for the whole database), and writes
  // operators' actions to the audit log. It updates plants to quarantine and release them; MongoDB grants no right to a
  // single field. A changed name or tag shows in `audit verify`; of the other fields, the audit log says what they were.
  'plantstore-ops': {
    [PLANTS]: ['find', 'update', 'listIndexes'],
    [PLANT_SEARCH]: ['find', 'listIndexes'],
    [AUDIT_BLOCKS]: ['find', 'insert', 'listIndexes'],
    [AUDIT_ANCHORS]: ['find', 'listIndexes'],
    '': ['dbStats'],
  },
  // For the commands of operators (npm run ops), which run when somebody starts them. It replaces the search index, and
  // sets the pending flags of plants that have to be processed again; what it does is written to the audit log.
  'plantstore-commands': {
    [PLANTS]: ['find', 'update', 'listIndexes'],
    // A rename needs these on both. The right to rename would hold for all collections of the database.
    [PLANT_SEARCH]: ['find', 'insert', 'listIndexes', 'createIndex', 'dropCollection'],
    [PLANT_SEARCH_NEXT]: ['find', 'insert', 'createIndex', 'dropCollection'],
    [OPS_STATE]: ['find', 'insert', 'update', 'remove'],
    // Like the console, doctor looks for indexes and at the disk, and no action is recorded without the unique indexes.
    [AUDIT_BLOCKS]: ['find', 'insert', 'listIndexes'],
    [AUDIT_ANCHORS]: ['find', 'listIndexes'],
    '': ['listCollections', 'dbStats'],
  },
};

/** Creates the account and its role, or updates existing ones. A role is stored in the same database as its user. */
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

/** Drops the account `plantstore`, which all services once shared. */
export async function dropSharedAccount(admin: Db): Promise<boolean> {
  const { users } = await admin.command({ usersInfo: 'plantstore' });
  if (users.length > 0) await admin.removeUser('plantstore');
  return users.length > 0;
}
