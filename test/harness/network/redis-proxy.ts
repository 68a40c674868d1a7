import { createSteps, type HeldStep } from './steps.ts';
import { type Tap, type TcpProxy, tcpProxy } from './tcp-proxy.ts';

/** What BullMQ sends to Redis that changes anything are scripts, called by their hash. */
const SCRIPT_CALL = 'evalsha';

export type RedisProxy = TcpProxy & {
  url: string;
  /** Holds the next call of a script, such as the one that adds a job, or the reply to it. */
  holdScript: (at: 'request' | 'reply') => HeldStep;
};

/** A proxy before a Redis that knows when scripts are called. */
export async function redisProxy(port: number): Promise<RedisProxy> {
  const steps = createSteps();
  const tap: Tap = (link) => {
    let called = false;
    const met = { command: SCRIPT_CALL, collection: undefined, client: '' };
    return {
      fromClient: (bytes) => {
        if (!bytes.includes(SCRIPT_CALL)) return link.toServer(bytes);
        called = true;
        steps.meet({ ...met, at: 'request' }, { pass: () => link.toServer(bytes), cut: link.end });
      },
      fromServer: (bytes) => {
        if (!called) return link.toClient(bytes);
        called = false;
        steps.meet({ ...met, at: 'reply' }, { pass: () => link.toClient(bytes), cut: link.end });
      },
    };
  };
  const proxy = await tcpProxy(port, tap);
  return {
    ...proxy,
    url: `redis://127.0.0.1:${proxy.port}`,
    holdScript: (at) => steps.hold({ command: SCRIPT_CALL, at }),
  };
}
