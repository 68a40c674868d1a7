import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ready } from '../../harness/api/api.ts';
import { type RawAnswer, type RawConnection, rawConnection } from '../../harness/network/raw-http.ts';
import { startProgram } from '../../harness/processes/program.ts';
import { testEnvironment } from '../../harness/servers/servers.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { render } from '../corpus/case.ts';

const CLIENTS = 4_000;
const CONNECT_MS_MAX = 10_000;
/** A create that waits for its commit for so long is refused, as is what comes when others have waited so long. */
const WAIT_MS = 1_000;
const CREATED_MIN = 1_000;
/** Longer than any answer takes: the clock of each runs from the moment all are sent. */
const ANSWER_MS_MAX = 60_000;

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
  '4,000 clients that connect at once are all taken, and get 200 while the API has time',
  async () => {
    await using api = await startProgram('api', environment);
    await ready(api.internalUrl);

    // While it is stopped nobody accepts, so what connects now is what the listener's queue holds.
    api.signal('SIGSTOP');
    let opened = 0;
    const connections = Promise.all(
      Array.from({ length: CLIENTS }, async () => {
        const connection = await rawConnection(api.url);
        opened += 1;
        return connection;
      }),
    );
    await waitFor(() => opened === CLIENTS, { withinMs: CONNECT_MS_MAX, what: 'all are connected' });
    api.signal('SIGCONT');
    const resumed = performance.now();
    const answers = await Promise.all(
      (await connections).map(async (connection) => {
        const { status } = await createOn(connection);
        return { status, ms: performance.now() - resumed };
      }),
    );
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused.filter(({ status, ms }) => status !== 503 || ms < WAIT_MS)).toEqual([]);
    expect(CLIENTS - refused.length).toBeGreaterThanOrEqual(CREATED_MIN);
  },
);

async function createOn(connection: RawConnection): Promise<RawAnswer> {
  await using open = connection;
  open.send(render({}));
  return await open.answer({ withinMs: ANSWER_MS_MAX });
}
