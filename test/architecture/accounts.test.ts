import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { accounts } from '@plant-store/mongodb/accounts';
import { expect, test } from 'vitest';
import { AUDIT_BLOCKS, OPS_STATE } from '../../packages/contracts/src/plant-document.ts';

const page = readFileSync(resolve(import.meta.dirname, '../../docs/operations-containers.md'), 'utf8');

test('what each account of MongoDB may do is documented, and nothing else', () => {
  const rows = Object.entries(accounts).flatMap(([account, privileges]) =>
    Object.entries(privileges).map(([collection, actions]) => {
      const on = collection === '' ? 'the database' : `\`${collection}\``;
      return `| \`${account}\` | ${on} | ${actions.join(', ')} |`;
    }),
  );
  const documented = page.split('\n').filter((line) => line.startsWith('| `plantstore-'));
  expect(documented).toEqual(rows);
});

test('no account may change or delete an audit block, or expire what cannot be made again by an index', () => {
  const harmless = ['find', 'insert', 'listIndexes', 'dbStats', 'collStats', 'indexStats', 'listCollections'];
  for (const privileges of Object.values(accounts)) {
    for (const [collection, actions] of Object.entries(privileges)) {
      if (collection === '') expect(harmless.slice(2)).toEqual(expect.arrayContaining([...actions]));
      if (collection === AUDIT_BLOCKS) expect(harmless).toEqual(expect.arrayContaining([...actions]));
      // The search index can be made again from plants, and a command's progress by starting it again.
      if (collection.startsWith('plant_search') || collection === OPS_STATE) continue;
      for (const action of ['remove', 'createIndex', 'collMod', 'dropCollection', 'renameCollectionSameDB'])
        expect(actions).not.toContain(action);
    }
  }
});
