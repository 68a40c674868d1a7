import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { json } from 'node:stream/consumers';
import { freshId, plantJson } from '../../harness/api/post-plant.ts';
import { token } from '../../harness/api/tokens.ts';

/** What became of one create, with its times by `performance.now()`. Status 0: the connection was cut. */
export type Outcome = { id: bigint; status: number; error?: number; began: number; ended: number };

/** Clients that create one plant after the other, each waiting for its answer, on connections they keep. */
export type SteadyLoad = AsyncDisposable & {
  outcomes: readonly Outcome[];
  /** Resolves when the last answer is there. */
  stop: () => Promise<readonly Outcome[]>;
};

export function startLoad(url: string, clients: number, accessToken = token()): SteadyLoad {
  const agent = new Agent({ keepAlive: true, maxSockets: clients });
  const outcomes: Outcome[] = [];
  let stopping = false;

  async function client(): Promise<void> {
    while (!stopping) {
      const id = freshId();
      const began = performance.now();
      const answer = await create(url, agent, accessToken, id).catch(() => ({ status: 0 }));
      outcomes.push({ id, ...answer, began, ended: performance.now() });
    }
  }

  const working = Promise.all(Array.from({ length: clients }, client));
  async function stop(): Promise<readonly Outcome[]> {
    stopping = true;
    await working;
    agent.destroy();
    return outcomes;
  }
  return { outcomes, stop, [Symbol.asyncDispose]: async () => void (await stop()) };
}

async function create(
  url: string,
  agent: Agent,
  accessToken: string,
  id: bigint,
): Promise<{ status: number; error?: number }> {
  const sending = request(`${url}/plants`, {
    agent,
    method: 'POST',
    headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' },
  });
  sending.end(plantJson({ id, name: 'fern' }));
  const [answer] = (await once(sending, 'response')) as [IncomingMessage];
  const { error } = (await json(answer)) as { error?: number };
  return { status: answer.statusCode ?? 0, ...(error !== undefined && { error }) };
}
