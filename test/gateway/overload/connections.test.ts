import { errorCatalogue } from '@plant-store/contracts/error-catalogue';
import { describe, expect, test } from 'vitest';
import { type RawAnswer, type RawConnection, rawConnection } from '../../harness/network/raw-http.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { installedNginx, startGateway } from '../harness/running-gateway.ts';
import { startUpstream } from '../harness/upstream.ts';

/** An odd and an even number: in one of both cases the last connection goes to a client, and none is left for its create. */
const CONNECTIONS = [24, 25];

describe.skipIf(installedNginx === undefined)('when connections run out', () => {
  test('a create for which none to the API is left is 5001: nothing was sent', async () => {
    const last = await Promise.all(CONNECTIONS.map(lastAnswer));
    const { error, message } = errorCatalogue.notStored;
    expect(last).toContainEqual({ status: 503, body: { error, message } });
  });
});

/** Creates that the API does not answer, one more at a time, until one is answered or has its connection ended. */
async function lastAnswer(connections: number): Promise<{ status: number; body: unknown } | 'ended'> {
  await using upstream = await startUpstream();
  await using gateway = await startGateway({
    upstreams: [upstream.address],
    settings: { GATEWAY_WORKER_CONNECTIONS: `${connections}` },
  });
  const open: RawConnection[] = [];
  try {
    for (;;) {
      const connection = await rawConnection(gateway.url);
      open.push(connection);
      connection.send('POST /plants HTTP/1.1\r\nHost: a\r\nx-do: hang\r\nContent-Length: 2\r\n\r\n{}');
      let answer: RawAnswer | 'ended' | undefined;
      connection.answer().then(
        (arrived) => (answer = arrived),
        () => (answer = 'ended'),
      );
      await waitFor(async () => answer !== undefined || (await upstream.seen()).posts === open.length, {
        withinMs: 8_000,
        what: 'it waits for the API, or is refused',
      });
      if (answer === 'ended') return answer;
      if (answer !== undefined) return { status: answer.status, body: JSON.parse(answer.body) };
    }
  } finally {
    await Promise.all(open.map((connection) => connection[Symbol.asyncDispose]()));
  }
}
