import { CREATIONS_QUEUE, creationJob } from '@plant-store/contracts/creation-job';
import { type Job, Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';

/** The queue as API and worker see it, to put jobs on and look at them. */
export function openQueue({ url, prefix }: { url: string; prefix: string }) {
  const connection = new Redis(url, { maxRetriesPerRequest: null });
  const queue = new Queue(CREATIONS_QUEUE, { connection, prefix });
  return {
    queue,
    connection,
    /** A job that a worker has taken and failed at. */
    failedJob: async (commit: string): Promise<Job> => {
      const { name, data, opts } = creationJob([{ commit, plants: 1 }]);
      const job = await queue.add(name, data, opts);
      const worker = new Worker(CREATIONS_QUEUE, () => Promise.reject(new Error('no such shelf')), {
        connection,
        prefix,
      });
      await new Promise((resolve) => worker.once('failed', resolve));
      await worker.close();
      return job;
    },
    /** A worker that is connected and never done with the job it takes, if it takes one. */
    idleWorker: (): AsyncDisposable => {
      const worker = new Worker(CREATIONS_QUEUE, () => new Promise(() => {}), { connection, prefix });
      return { [Symbol.asyncDispose]: () => worker.close(true) };
    },
    close: async () => {
      await queue.close();
      connection.disconnect();
    },
  };
}
