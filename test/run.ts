import { randomUUID } from 'node:crypto';
import { endMarkedProcesses } from '@plant-store/local/marked-processes';
import { parseCLI, startVitest, type Vitest } from 'vitest/node';

/** Inherited by every process a test starts, so that those left behind are found. */
const MARK = 'PLANT_STORE_TEST_RUN';
const run = randomUUID();
process.env[MARK] = run;

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void endMarkedProcesses(MARK, run).finally(() => process.exit(130)));
}

const { filter, options } = parseCLI(['vitest', ...process.argv.slice(2)]);
const vitest = await startVitest('test', filter, { ...options, watch: false });
const counts = count(vitest);
await vitest.close();

const left = await endMarkedProcesses(MARK, run);
for (const command of left) process.stderr.write(`left running by a test: ${command}\n`);
counts.failed += left.length;
// The servers or the configuration failed: vitest has said so, in no test's name.
if (counts.failed === 0 && process.exitCode) counts.failed = 1;

const { passed, failed, skipped } = counts;
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
process.stdout.write(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`);
process.exit();

/** What fails outside of a test (a file that does not load, a hook, an unhandled rejection) is one failure each. */
function count({ state }: Vitest): { passed: number; failed: number; skipped: number } {
  const counts = { passed: 0, failed: state.getUnhandledErrors().length, skipped: 0 };
  for (const module of state.getTestModules()) {
    counts.failed += module.errors().length;
    for (const suite of module.children.allSuites()) counts.failed += suite.errors().length;
    for (const test of module.children.allTests()) {
      const { state: outcome } = test.result();
      if (outcome !== 'pending') counts[outcome]++;
    }
  }
  return counts;
}
