import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseSync, Visitor } from 'oxc-parser';
import { expect, test } from 'vitest';
import { eventsModel } from './events-model.ts';
import type { Model } from './explore.ts';
import { storageModel } from './storage-model.ts';
import { eventsSteps, storageSteps, type TakenBy } from './taken-by.ts';

const root = resolve(import.meta.dirname, '../..');

/** The labels of the steps from the first states, breadth first. */
function labelsOf<State>(model: Model<State>, statesMax: number): Set<string> {
  const labels = new Set<string>();
  const seen = new Set([model.keyOf(model.initial)]);
  const states = [model.initial];
  for (const state of states) {
    for (const { label, next } of model.steps(state)) {
      labels.add(label);
      const key = model.keyOf(next);
      if (states.length >= statesMax || seen.has(key)) continue;
      seen.add(key);
      states.push(next);
    }
  }
  return labels;
}

/** Names of the functions, methods and variables that a source defines. */
function namesIn(file: string): Set<string> {
  const { program } = parseSync(file, readFileSync(join(root, file), 'utf8'));
  const names = new Set<string>();
  new Visitor({
    FunctionDeclaration: ({ id }) => void (id && names.add(id.name)),
    VariableDeclarator: ({ id }) => void (id.type === 'Identifier' && names.add(id.name)),
    Property: ({ key, method, value }) => {
      const isFunction = method || value.type === 'ArrowFunctionExpression';
      if (key.type === 'Identifier' && isFunction) names.add(key.name);
    },
  }).visit(program);
  return names;
}

const models: [string, Set<string>, readonly [RegExp, TakenBy][]][] = [
  ['storage', labelsOf(storageModel(), 20_000), storageSteps],
  [
    'events',
    new Set([
      ...labelsOf(eventsModel({ homes: [[0], [1]], sharedJobs: true, deposedReads: true }), 20_000),
      ...labelsOf(eventsModel({ homes: [[0]], remembersHeads: 'sealed' }), 20_000),
    ]),
    eventsSteps,
  ],
];

test.each(models)(
  'every step of the %s model is taken by one function or by its environment',
  (_name, labels, table) => {
    expect(labels.size).toBeGreaterThan(10);
    const takers = (label: string) => table.filter(([pattern]) => pattern.test(label)).length;
    expect([...labels].filter((label) => takers(label) !== 1)).toEqual([]);
    expect(table.filter(([pattern]) => ![...labels].some((label) => pattern.test(label)))).toEqual([]);
  },
);

test.each(models)('the functions that take the steps of the %s model exist', (_name, _labels, table) => {
  for (const [, takenBy] of table) {
    if (takenBy !== 'environment') expect(namesIn(takenBy.file), takenBy.file).toContain(takenBy.name);
  }
});
