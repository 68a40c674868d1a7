import { hash } from 'node:crypto';
import type { PlantDocument } from '@plant-store/contracts/plant-document';
import { Binary, ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import { createHistory, type Operation } from '../history/history.ts';
import { checkStorage } from './storage.ts';

const ID = 7n;
const ivy: Difference = { kind: 'other content', name: 'ivy', key: 'b' };
const otherKey: Difference = { kind: 'other key', key: 'c' };
const otherSubject: Difference = { kind: 'other subject', subject: 'neighbour' };
type Difference = Pick<Operation, 'kind'> & Partial<Operation>;

/** What is found when the first of two contenders is stored and the second, sent after its answer, gets this number. */
function found(first: Difference, second: Difference, error: number) {
  const history = createHistory();
  const send = (difference: Difference, attempt: Omit<Operation['attempts'][number], 'target'>) => {
    const fern = { id: ID, spelling: `${ID}`, name: 'fern', key: 'a', subject: 'gardener' };
    const operation = history.add({ ...fern, ...difference });
    operation.attempts.push({ ...attempt, target: 'api-0' });
    return operation;
  };
  const { name, subject, key } = send(first, {
    invokedMs: 1,
    endedMs: 2,
    outcome: 'ok',
    answer: JSON.stringify({ name: first.name ?? 'fern' }),
  });
  send(second, { invokedMs: 3, endedMs: 4, outcome: 'refused', answer: `400 ${error}`, error });
  const stored: PlantDocument = {
    _id: ID,
    name,
    created: new Date(),
    commit: new ObjectId(),
    by: { sub: subject },
    from: { address: '127.0.0.1', request: 'r', instance: 'api-0' },
    key: new Binary(hash('sha256', key, 'buffer')),
  };
  const state = { index: new Map(), audited: new Map(), jobs: {}, failed: [] };
  return checkStorage(history, { ...state, plants: new Map([[ID, stored]]) }).map(
    (violation) => violation.found,
  );
}

test.each<[Difference, Difference, number]>([
  [{ kind: 'create' }, ivy, 1002],
  [{ kind: 'create' }, otherKey, 1008],
  [{ kind: 'create' }, otherSubject, 1002],
  [ivy, { kind: 'create' }, 1002],
  [ivy, otherKey, 1002],
  [otherKey, { kind: 'create' }, 1008],
  [otherSubject, otherKey, 1002],
])(
  'whoever of two contenders is stored, the later one has to learn what stands there: %o, %o, %i',
  (first, second, error) => {
    expect(found(first, second, error)).toEqual([]);
    const wrong = error === 1002 ? 1008 : 1002;
    expect(found(first, second, wrong)).toEqual([
      `operation 1 (${second.kind}) got 400 ${wrong}, not ${error}`,
    ]);
  },
);
