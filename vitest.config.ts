import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['packages/**/*.test.ts', 'services/**/*.test.ts', 'deploy/**/*.test.ts', 'test/**/*.test.ts'],
    exclude: ['**/node_modules/**', '**/.local/**'],
    globalSetup: ['test/harness/servers/global-setup.ts'],
    setupFiles: ['test/harness/processes/no-open-handles.ts'],
    runner: 'test/harness/servers/skip-without-servers.ts',
    // Processes, not threads: tests send signals, and what leaks is seen per file.
    pool: 'forks',
    maxWorkers: 2,
    // Generous, for loaded machines: it ends a test that hangs. How long something may take, tests say where they wait.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    teardownTimeout: 20_000,
    // A test that passes at the second attempt has told something: it is not hidden.
    retry: 0,
  },
});
