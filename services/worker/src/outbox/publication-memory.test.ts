import { expect, test } from 'vitest';
import { createPublicationMemory } from './publication-memory.ts';

const commits = (...names: string[]) => names.map((commit) => ({ commit, plants: 3 }));
const AGE_MS = 5_000;

test('a commit is due once it has been seen pending for longer than the age, and not before', () => {
  const memory = createPublicationMemory(AGE_MS, 100);
  expect(memory.saw(commits('a'), 1_000)).toEqual([]);
  expect(memory.saw(commits('a', 'b'), 5_999)).toEqual([]);
  expect(memory.saw(commits('a', 'b'), 6_000)).toEqual([{ commit: 'a', plants: 3, dueAt: 6_000 }]);
});

test('after each publication it is left alone for longer, but never for more than 30 s', () => {
  const memory = createPublicationMemory(AGE_MS, 100);
  const pauses: number[] = [];
  memory.saw(commits('a'), 0);
  let last = 0;
  for (let now = 0; now < 200_000; now += 1_000) {
    if (memory.saw(commits('a'), now).length === 0) continue;
    memory.published(commits('a'), now);
    pauses.push(now - last);
    last = now;
  }
  expect(pauses.slice(0, 5)).toEqual([5_000, 10_000, 20_000, 30_000, 30_000]);
});

test('a commit that was cleared is forgotten after a pass, and ages anew when it comes again', () => {
  const memory = createPublicationMemory(AGE_MS, 100);
  memory.saw(commits('a'), 0);
  memory.passed();
  memory.saw(commits('b'), 1_000);
  memory.passed();
  expect(memory.oldestMs(2_000)).toBe(1_000);
  expect(memory.saw(commits('a'), 9_000)).toEqual([]);
});

test('within a pass of several pages nothing is forgotten', () => {
  const memory = createPublicationMemory(AGE_MS, 100);
  memory.saw(commits('a'), 0);
  memory.saw(commits('b'), 1_000);
  memory.passed();
  expect(memory.saw(commits('a', 'b'), 7_000)).toHaveLength(2);
});

test('memory is bounded, and room is used again', () => {
  const memory = createPublicationMemory(AGE_MS, 2);
  memory.saw(commits('a', 'b', 'c'), 0);
  memory.passed();
  expect(memory.saw(commits('c'), 6_000)).toEqual([]);
  memory.passed();
  memory.saw(commits('c'), 7_000);
  expect(memory.saw(commits('c'), 12_000)).toHaveLength(1);
});

test('the oldest is 0 when nothing is pending', () => {
  expect(createPublicationMemory(AGE_MS, 2).oldestMs(1_000)).toBe(0);
});
