import { fileURLToPath } from 'node:url';
import { launch } from '../../harness/processes/launch.ts';
import { waitFor } from '../../harness/wait-for.ts';

const START_MS_MAX = 20_000;
const main = fileURLToPath(new URL('upstream-main.ts', import.meta.url));

/** What the upstream tells of a request that reached it. */
export type Seen = {
  method: string;
  url: string;
  bytes: number;
  port: number;
  /** Names and values in turn, as they arrived. */
  headers: string[];
};

type Received = {
  /** Creates that reached it. */
  posts: number;
  /** Those among them that it answers late. */
  late: number;
  /** How long a connection was idle when the gateway closed it, once it did. */
  gatewayIdleMs?: number;
};

/** An HTTP server in a process of its own, so that it can be stopped and killed as a replica can. */
export type Upstream = AsyncDisposable & {
  port: number;
  address: string;
  signal: (signal: NodeJS.Signals) => void;
  /** Kills it and waits until it is gone. */
  kill: () => Promise<void>;
  seen: () => Promise<Received>;
};

/**
 * @param port 0 takes a free one.
 * @param backlog connections that wait while nobody accepts them; the system drops those beyond.
 */
export async function startUpstream({ port = 0, backlog = 4_096 } = {}): Promise<Upstream> {
  const environment = { PORT: String(port), BACKLOG: String(backlog) };
  const upstream = launch('node', [main], { environment });
  const line = await waitFor(() => /^(\d+)\n/.exec(upstream.stdout())?.[1], {
    withinMs: START_MS_MAX,
    what: 'the upstream tells its port',
  });
  const kill = async () => void (await upstream.stop('SIGKILL'));
  return {
    port: Number(line),
    address: `127.0.0.1:${line}`,
    signal: upstream.signal,
    kill,
    seen: async () => (await (await fetch(`http://127.0.0.1:${line}/seen`)).json()) as Received,
    [Symbol.asyncDispose]: kill,
  };
}
