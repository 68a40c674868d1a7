import type { TestProject } from 'vitest/node';
import { startContainers } from './container-servers.ts';
import { startLocalServers } from './local-servers.ts';
import type { RunServers } from './provided.ts';

/** A started pair of servers that ends with the run. */
export type StartedServers = RunServers & { stop: () => Promise<void> };

/**
 * Starts one mongod (a replica set of one) and one Redis for the whole run. Where that is impossible, CI fails and a
 * person's run goes on without the tests that need them.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const report = (server: string, choice: string) => process.stderr.write(`${server}: ${choice}\n`);
  try {
    const containers = process.env['TEST_SERVERS'] === 'containers';
    const { mongodb, redis, stop } = await (containers ? startContainers(report) : startLocalServers(report));
    project.provide('servers', { mongodb, redis });
    return stop;
  } catch (error) {
    if (process.env['CI'] === 'true') throw error;
    const missing = (error as Error).message;
    process.stderr.write(`\n!!! TESTS THAT NEED SERVERS ARE SKIPPED: ${missing}\n\n`);
    project.provide('servers', { missing });
    return async () => {};
  }
}
