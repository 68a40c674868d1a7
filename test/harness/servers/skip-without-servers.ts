import { TestRunner } from 'vitest';

/** On the global object, because the runner and the test file are loaded apart. */
const wanted = Symbol.for('plant-store.skip-this-file');
const NO_TEST = /(?!)/;

/** Makes every test of the file that is being loaded a skipped one, its hooks included. */
export function skipThisFile(): void {
  Reflect.set(globalThis, wanted, true);
}

/** vitest's runner, which skips whole files that asked for it while they were loaded: a hook can skip no test. */
export default class SkippingRunner extends TestRunner {
  override async importFile(...file: Parameters<TestRunner['importFile']>): Promise<unknown> {
    const module = await super.importFile(...file);
    if (Reflect.get(globalThis, wanted) === true) this.config.testNamePattern = NO_TEST;
    return module;
  }
}
