import { type RunnerTestFile, type RunnerTestSuite, TestRunner } from 'vitest';

/** On the global object, because the runner and the test file are loaded apart. */
const wanted = Symbol.for('plant-store.skip-this-file');

/** Makes every test of the file that is being collected a skipped one, its hooks included. */
export function skipThisFile(): void {
  Reflect.set(globalThis, wanted, true);
}

/** vitest's runner, which skips whole files that asked for it: a hook can skip no test. */
export default class SkippingRunner extends TestRunner {
  onCollected(files: RunnerTestFile[]): void {
    if (Reflect.get(globalThis, wanted) === true) for (const file of files) skip(file);
  }
}

function skip(suite: RunnerTestSuite): void {
  suite.mode = 'skip';
  for (const task of suite.tasks) {
    if (task.type === 'suite') skip(task);
    else task.mode = 'skip';
  }
}
