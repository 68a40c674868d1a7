import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseCLI, startVitest, type Vitest } from 'vitest/node';
import { endAtExit } from './harness/processes/end-at-exit.ts';
import { endProcessesOf, processesOf } from './harness/processes/processes.ts';
import { waitFor } from './harness/wait-for.ts';

/** How long what has been told to end may take, vitest's own processes among it. */
const ENDED_MS_MAX = 5_000;

/** Where all temporary files of the run lie. Every process a test starts knows it, so those left behind are found. */
const directory = mkdtempSync(join(tmpdir(), 'plant-store-test-'));
process.env['TMPDIR'] = directory;
endAtExit(directory);

/** As `npm start` does: the hundreds of processes that tests start compile what they load once. */
process.env['NODE_COMPILE_CACHE'] ??= resolve(import.meta.dirname, '../node_modules/.cache/compiled');

const { filter, options } = parseCLI(['vitest', ...process.argv.slice(2)]);
const vitest = await startVitest('test', filter, { ...options, watch: false });
const { passed, failed: failedTests, skipped } = outcomesOf(vitest);
await vitest.close();

await waitFor(async () => (await processesOf(directory)).length === 0, {
  withinMs: ENDED_MS_MAX,
  what: 'no process is left',
}).catch(() => {});
const left = await endProcessesOf(directory);
for (const { pid, command } of left) process.stderr.write(`left running by a test: ${pid} ${command}\n`);
let failed = failedTests + left.length;
// The servers or the configuration failed: vitest has said so, in no test's name.
if (failed === 0 && process.exitCode) failed = 1;

// Who asks for tests by name knows that the others are skipped.
if (skipped.length > 0 && options.testNamePattern === undefined) {
  process.stdout.write(`skipped:\n${skipped.map((name) => `  ${name}\n`).join('')}`);
}
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
process.stdout.write(
  `${passed} passed, ${failed} failed${skipped.length > 0 ? `, ${skipped.length} skipped` : ''}\n`,
);
process.exit();

/** What fails outside of a test (a file that does not load, a hook, an unhandled rejection) is one failure each. */
function outcomesOf({ state }: Vitest): { passed: number; failed: number; skipped: string[] } {
  const outcomes = { passed: 0, failed: state.getUnhandledErrors().length, skipped: [] as string[] };
  for (const module of state.getTestModules()) {
    outcomes.failed += module.errors().length;
    for (const suite of module.children.allSuites()) outcomes.failed += suite.errors().length;
    for (const test of module.children.allTests()) {
      const { state: outcome } = test.result();
      if (outcome === 'skipped') outcomes.skipped.push(`${module.relativeModuleId}: ${test.fullName}`);
      else if (outcome !== 'pending') outcomes[outcome]++;
    }
  }
  return outcomes;
}
