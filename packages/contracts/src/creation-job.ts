/** The queue on which commits are announced. Its jobs are a doorbell: losing one delays, and changes nothing. */
export const CREATIONS_QUEUE = 'plant-creations';

/** The one kind of job on it, in the past tense: it tells that a commit happened. */
export const PLANTS_CREATED = 'plants.created';

/**
 * A claim check (Hohpe & Woolf, Enterprise Integration Patterns): it names the commit and carries no plant, since the
 * database is the record.
 */
export type CreationJob = {
  version: 1;
  /** The commit's ObjectId, 24 hexadecimal digits. */
  commit: string;
  /** How many plants the commit has pending, as far as its announcer knew: a guess, to share the work evenly. */
  plants: number;
  /** W3C trace context of the first request of the commit that carried one. */
  traceparent?: string;
};

/** One id per commit, so a second ring while the first job waits or runs is ignored. BullMQ forbids ':' in it. */
export function creationJobId(commit: string): string {
  return `commit-${commit}`;
}

/** The commit that a job's id names, also when Redis has lost the job's data; `undefined` for any other job. */
export function commitOfJob(jobId: string): string | undefined {
  return /^commit-([0-9a-f]{24})$/.exec(jobId)?.[1];
}

/**
 * Nothing of a completed job is kept: its id would swallow a later ring for the same commit. Failed jobs are kept
 * until the relay drives them again; of their stack traces the last, since a poison plant's job fails for as long as
 * the plant stays, and BullMQ would keep each of them.
 */
export const creationJobOptions = {
  removeOnComplete: true,
  removeOnFail: false,
  attempts: 1,
  stackTraceLimit: 1,
} as const;
