import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { within } from '../../../packages/platform/src/within.ts';
import { ready } from '../../harness/api.ts';
import { startProgram } from '../../harness/program.ts';
import { type RawConnection, rawConnection } from '../../harness/raw-http.ts';
import { testDatabase, testQueue } from '../../harness/servers.ts';
import { TEST_SECRET } from '../../harness/tokens.ts';
import { render } from '../corpus/case.ts';

const CLIENTS = 4_000;
const CONNECT_MS_MAX = 10_000;
vi.setConfig({ testTimeout: 40_000 });

const database = testDatabase();
const queue = testQueue();

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
    await using api = await startProgram(join(import.meta.dirname, '../../../services/api/src/main.ts'), {
      MONGODB_URL: database.url,
      REDIS_URL: queue.url,
      QUEUE_PREFIX: queue.prefix,
      AUTH_SECRET: TEST_SECRET,
      PORT: '0',
      DRAIN_MS: '0',
    });
    await ready(api.listening.internal);

    // While it is stopped nobody accepts, so what connects now is what the listener's queue holds.
    api.signal('SIGSTOP');
    const opening = Array.from({ length: CLIENTS }, () => rawConnection(String(api.listening.url)));
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
