import { AUDIT_BLOCKS, PLANT_SEARCH, PLANTS } from './plant-document.ts';

/** An index a service relies on, as data: the service that starts first creates it. */
export type IndexSpecification = {
  collection: string;
  name: string;
  key: Record<string, 1 | -1>;
  unique?: true;
  partialFilterExpression?: Record<string, unknown>;
};

/** The outbox: finds the marks, and costs nothing for plants whose mark is cleared. Queries name it as their hint. */
export const PENDING_COMMITS = 'pending_commits';

export const plantIndexes: readonly IndexSpecification[] = [
  {
    collection: PLANTS,
    name: PENDING_COMMITS,
    key: { commit: 1 },
    partialFilterExpression: { pending: true },
  },
];

/** What plants are searched by; by id is `_id`. */
export const searchIndexes: readonly IndexSpecification[] = [
  { collection: PLANT_SEARCH, name: 'words', key: { words: 1 } },
  { collection: PLANT_SEARCH, name: 'folded_name', key: { folded: 1 } },
  { collection: PLANT_SEARCH, name: 'tag_by_time', key: { tag: 1, created: -1 } },
];

/**
 * What the audit log's promises stand on: without the first a chain forks, without the second a creation is audited
 * twice. The second holds between blocks, not inside one, and only while the collection is not sharded.
 */
export const auditIndexes: readonly IndexSpecification[] = [
  { collection: AUDIT_BLOCKS, name: 'chain_height', key: { chain: 1, height: 1 }, unique: true },
  { collection: AUDIT_BLOCKS, name: 'event', key: { 'entries.event': 1 }, unique: true },
];
