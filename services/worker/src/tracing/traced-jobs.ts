import type { PendingCommit } from '@plant-store/contracts/creation-job';
import { parentAmong, type Span, type Tracing } from '@plant-store/platform/tracing/tracing';

type Job = { id: string; commits: readonly PendingCommit[]; traceparent: string | undefined };

/** Jobs and batches as steps of traces. A batch belongs to the trace of its first recorded job and links all others. */
export type TracedJobs = {
  job: (job: Job, work: () => Promise<void>) => Promise<void>;
  batch: <Result>(
    jobs: readonly (readonly PendingCommit[])[],
    work: () => Promise<Result>,
  ) => Promise<Result>;
};

export function tracedJobs(tracing: Tracing): TracedJobs {
  /** By the list of commits with which a job joins a batch. */
  const spans = new WeakMap<readonly PendingCommit[], Span>();

  return {
    job({ id, commits, traceparent }, work) {
      const span = tracing.start('process plants.created', {
        kind: 'consumer',
        parent: traceparent,
        attributes: {
          'messaging.system': 'bullmq',
          'messaging.message.id': id,
          'messaging.operation.type': 'process',
          'plants.commits': commits.length,
        },
      });
      spans.set(commits, span);
      return ended(span, work);
    },

    batch(jobs, work) {
      const { parent, others } = parentAmong(
        jobs.flatMap((commits) => spans.get(commits)?.traceparent ?? []),
      );
      const attributes = { 'plants.jobs': jobs.length };
      const span = tracing.start('batch', { kind: 'internal', parent, links: others, attributes });
      for (const job of others) tracing.link(job, span.traceparent);
      return ended(span, work);
    },
  };
}

async function ended<Result>(span: Span, work: () => Promise<Result>): Promise<Result> {
  try {
    const result = await work();
    span.end();
    return result;
  } catch (error) {
    span.end(error);
    throw error;
  }
}
