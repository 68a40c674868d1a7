import { Queue } from 'bullmq';
import type { Redis } from 'ioredis';

export type LazyQueue<Data, Name extends string> = {
  /** Returns the queue, opened if necessary. Call it only while Redis is ready: otherwise opening the queue fails. */
  open: () => Queue<Data, void, Name>;
  close: () => Promise<void>;
};

/**
 * A BullMQ queue on a producer's connection, for services that start and keep working without Redis. A queue that
 * failed to open is closed, so that it leaves no listener on the shared connection, and opened again at the next use.
 */
export function lazyQueue<Data, Name extends string>(
  name: string,
  redis: Redis,
  prefix: string,
  onError: (error: unknown) => void,
): LazyQueue<Data, Name> {
  let queue: Queue<Data, void, Name> | undefined;

  function open(): Queue<Data, void, Name> {
    if (queue !== undefined) return queue;
    const opened = new Queue<Data, void, Name>(name, {
      connection: redis,
      prefix,
      skipWaitingForReady: true,
    });
    opened.on('error', onError);
    opened.waitUntilReady().catch(() => {
      if (queue === opened) queue = undefined;
      opened.close().catch(onError);
    });
    queue = opened;
    return opened;
  }

  return { open, close: async () => queue?.close() };
}
