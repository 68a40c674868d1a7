import { PLANTS } from './plant-document.ts';

/** An index a service relies on, as data: the service that starts first creates it. */
export type IndexSpecification = {
  collection: string;
  name: string;
  key: Record<string, 1 | -1>;
  unique?: true;
  partialFilterExpression?: Record<string, unknown>;
};

/** The outbox: finds the marks, and costs nothing for plants whose mark is cleared. */
export const plantIndexes: readonly IndexSpecification[] = [
  {
    collection: PLANTS,
    name: 'pending_commits',
    key: { commit: 1 },
    partialFilterExpression: { pending: true },
  },
];
