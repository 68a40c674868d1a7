import { AUDIT_ANCHORS, AUDIT_BLOCKS, PLANT_SEARCH, PLANTS } from './plant-document.ts';

/** An index a service relies on, as data: the service that starts first creates it. */
export type IndexSpecification = {
  collection: string;
  name: string;
  key: Record<string, 1 | -1>;
  unique?: true;
  partialFilterExpression?: Record<string, unknown>;
};

/** The outbox: the index of pending plants. Plants without the flag are not in it. Queries name it as their hint. */
export const PENDING_COMMITS = 'pending_commits';

/** The index of quarantined plants, the newest quarantine last; it is as good as empty. */
export const QUARANTINED = 'quarantined';

export const plantIndexes: readonly IndexSpecification[] = [
  {
    collection: PLANTS,
    name: PENDING_COMMITS,
    key: { commit: 1 },
    partialFilterExpression: { pending: true },
  },
  {
    collection: PLANTS,
    name: QUARANTINED,
    key: { 'quarantine.since': 1, _id: 1 },
    partialFilterExpression: { pending: 'quarantined' },
  },
];

/** The index of all search terms, the newest plant first within each term. Queries name it as their hint. */
export const TERMS_INDEX = 'terms';

export const searchIndexes: readonly IndexSpecification[] = [
  { collection: PLANT_SEARCH, name: TERMS_INDEX, key: { terms: 1, created: -1, _id: 1 } },
];

/**
 * What plants are found by in the audit log, and the field of an entry that holds it; the newest block first. A block
 * has one index key for all its entries with the same value, so indexing a commit or a subject there costs almost
 * nothing. In the search index each plant would need a key of its own, at 3 µs.
 */
export const auditedBy = {
  request: 'entries.from.request',
  commit: 'entries.commit',
  subject: 'entries.who.sub',
} as const;

/** The index of the anchors that are not emitted yet. */
export const NOT_EMITTED = 'not_emitted';

/**
 * The audit log's guarantees depend on the first two: without the first a chain could fork, without the second a
 * creation could be audited twice. The second holds between blocks, not inside one, and only while the collection is
 * not sharded.
 */
export const auditIndexes: readonly IndexSpecification[] = [
  { collection: AUDIT_BLOCKS, name: 'chain_height', key: { chain: 1, height: 1 }, unique: true },
  { collection: AUDIT_BLOCKS, name: 'event', key: { 'entries.event': 1 }, unique: true },
  ...Object.entries(auditedBy).map(([name, path]) => ({
    collection: AUDIT_BLOCKS,
    name,
    key: { [path]: 1, time: -1, _id: 1 } as const,
  })),
  {
    collection: AUDIT_ANCHORS,
    name: NOT_EMITTED,
    key: { emitted: 1, _id: 1 },
    partialFilterExpression: { emitted: false },
  },
];
