/** The queue that tells workers about stored commits. A lost job only delays them: the relay publishes them again. */
export const CREATIONS_QUEUE = 'plant-creations';

/** The one kind of job on it, a past event: commits were stored. */
export const PLANTS_CREATED = 'plants.created';

/** Of a job of another version only the commit in its id is read; the relay publishes its other commits. */
const VERSION = 2;

/** A job with so many commits or plants is full: it is published at once, and the next commit begins another job. */
const JOB_COMMITS_MAX = 64;
const JOB_PLANTS_MAX = 2_000;

export type PendingCommit = {
  /** The commit's ObjectId, 24 hexadecimal digits. */
  commit: string;
  /** How many of its plants were pending, as far as the publisher knew. It is used only to size batches. */
  plants: number;
};

/** A commit as a worker gets it with a job. */
export type PublishedCommit = PendingCommit & {
  /** When its job was published, by the publisher's clock; absent where Redis lost that. */
  publishedAt?: Date;
};

/**
 * A claim check (Hohpe & Woolf, Enterprise Integration Patterns): it names commits and carries no plant, since the
 * database is the record.
 */
export type CreationJobData = {
  version: typeof VERSION;
  commits: readonly PendingCommit[];
  /**
   * W3C trace context: that of the publication, where tracing is on; otherwise that of the first request of these commits
   * that carried one.
   */
  traceparent?: string;
};

export function isFullJob(commits: readonly PendingCommit[]): boolean {
  return (
    commits.length >= JOB_COMMITS_MAX ||
    commits.reduce((sum, { plants }) => sum + plants, 0) >= JOB_PLANTS_MAX
  );
}

/**
 * The BullMQ job for these commits. Its id contains the first commit, which can be read even when Redis has lost the
 * job's data. BullMQ ignores a job whose id is still in Redis.
 * - Completed jobs are removed: a kept id would block a later publication of the same commit.
 * - Failed jobs are kept until the relay retries them, with one stack trace: the job of a poison plant fails again at
 *   each retry, and BullMQ would keep every trace.
 */
export function creationJob(commits: readonly PendingCommit[], traceparent?: string) {
  const [first] = commits;
  if (first === undefined) throw new RangeError('a creation job names at least one commit');
  const data: CreationJobData = {
    version: VERSION,
    commits,
    ...(traceparent !== undefined && { traceparent }),
  };
  return {
    name: PLANTS_CREATED,
    data,
    opts: {
      jobId: creationJobId(first.commit),
      removeOnComplete: true,
      removeOnFail: false,
      attempts: 1,
      stackTraceLimit: 1,
    },
  } as const;
}

/** BullMQ forbids ':' in an id, and one of digits alone. */
export function creationJobId(commit: string): string {
  return `commit-${commit}`;
}

/**
 * Reads a job without trusting its data, which may be lost, of another version or written by another program. A job
 * that names no commit is not one of ours.
 */
export function readCreationJob(
  id: string,
  data: unknown,
): { commits: PendingCommit[]; traceparent: string | undefined } {
  const { version, commits, traceparent } = fields(data);
  const named = new Map<string, PendingCommit>();
  const own = /^commit-([0-9a-f]{24})$/.exec(id)?.[1];
  if (own !== undefined) named.set(own, { commit: own, plants: 0 });
  if (version === VERSION && Array.isArray(commits)) {
    for (const { commit, plants } of commits.slice(0, JOB_COMMITS_MAX).map(fields)) {
      if (typeof commit !== 'string' || !/^[0-9a-f]{24}$/.test(commit)) continue;
      named.set(commit, { commit, plants: Number.isSafeInteger(plants) ? Number(plants) : 0 });
    }
  }
  return {
    commits: [...named.values()],
    traceparent: typeof traceparent === 'string' ? traceparent : undefined,
  };
}

function fields(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
