import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { within } from '../../../packages/platform/src/concurrency/within.ts';
import { ready } from '../../harness/api/api.ts';
import { type RawConnection, rawConnection } from '../../harness/network/raw-http.ts';
import { startProgram } from '../../harness/processes/program.ts';
import { testEnvironment } from '../../harness/servers/servers.ts';
import { render } from '../corpus/case.ts';

const CLIENTS = 4_000;
const CONNECT_MS_MAX = 10_000;

const environment = testEnvironment();

/** The system grants no longer queue than this, whatever a process asks for. */
function longestQueue(): number {
  try {
    return Number(readFileSync('/proc/sys/net/core/somaxconn', 'utf8'));
  } catch {
    return 0;
  }
}

test.skipIf(longestQueue() < CLIENTS)(
  '4,000 clients that connect at once are all taken and get 200',
  async () => {
    await using api = await startProgram('api', environment);
    await ready(api.internalUrl);

    // While it is stopped nobody accepts, so what connects now is what the listener's queue holds.
    api.signal('SIGSTOP');
    const opening = Array.from({ length: CLIENTS }, () => rawConnection(api.url));
    const connections = await within(CONNECT_MS_MAX, Promise.all(opening), []);
    api.signal('SIGCONT');
    expect(connections).toHaveLength(CLIENTS);
    const statuses = await Promise.all(connections.map(createOn));
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
  },
);

async function createOn(connection: RawConnection): Promise<number> {
  await using open = connection;
  open.send(render({}));
  return (await open.answer()).status;
}
