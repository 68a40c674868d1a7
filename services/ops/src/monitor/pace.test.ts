import { expect, test } from 'vitest';
import { healthyDatabase, healthyStatus } from '../status/healthy-status.ts';
import { createPace } from './pace.ts';

const start = Date.parse('2026-05-01T12:00:00Z');

/** Readings of plants stored, searchable and pending, one every 10 s. */
function paceOf(readings: [plants: number, searchable: number, pending: number][]) {
  const pace = createPace();
  const paces = readings.map(([plants, searchable, pending], index) =>
    pace({
      ...healthyStatus,
      at: new Date(start + index * 10_000),
      database: {
        ...healthyDatabase,
        plants,
        searchable,
        backlog: { ...healthyDatabase.backlog, plants: pending },
      },
    }),
  );
  return paces.at(-1);
}

test('one reading tells no rate', () => {
  expect(paceOf([[5, 5, 0]])).toBeUndefined();
});

test('a backlog that shrinks tells when it will be gone', () => {
  expect(
    paceOf([
      [1_000, 0, 1_000],
      [1_100, 600, 500],
    ]),
  ).toEqual({
    arrivedPerS: 10,
    processedPerS: 60,
    clearInMs: 10_000,
    growsPerS: 0,
  });
});

test('a backlog that grows tells by how much', () => {
  expect(
    paceOf([
      [0, 0, 0],
      [3_000, 1_000, 2_000],
    ]),
  ).toMatchObject({ clearInMs: undefined, growsPerS: 200 });
});

test('rates are those of the last 30 s', () => {
  const readings: [number, number, number][] = [
    [0, 0, 0],
    [9_000, 9_000, 0],
    [9_000, 9_000, 0],
    [9_000, 9_000, 0],
    [9_000, 9_000, 0],
  ];
  expect(paceOf(readings)).toMatchObject({ arrivedPerS: 0, processedPerS: 0 });
});

test('an index that is rebuilt makes no negative rate', () => {
  expect(
    paceOf([
      [100, 100, 0],
      [100, 0, 0],
    ]),
  ).toMatchObject({ processedPerS: 0 });
});
