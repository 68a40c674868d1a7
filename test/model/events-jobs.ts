import type { Database } from './events-database.ts';
import type { EventsProtocol, EventsState } from './events-model.ts';
import type { Step } from './explore.ts';

/**
 * A creation job under the id of its first commit.
 * `lost`: Redis has the id and no list holds it, so that `add` is ignored and no worker takes it.
 */
export type Job =
  | { state: 'none' | 'lost' | 'kept' }
  /** `commits`: what its contents name; the first alone once Redis has lost them. */
  | { state: 'waiting' | 'failed'; commits: number[] }
  | { state: 'active'; commits: number[]; worker: 0 | 1 };

export function jobKey(job: Job): string {
  const commits = 'commits' in job ? job.commits.join('') : '';
  return `${job.state}${commits}${job.state === 'active' ? `w${job.worker}` : ''}`;
}

/** What the API, Redis and the relays do with creation jobs. */
export function* jobSteps(
  state: EventsState,
  database: Database,
  protocol: EventsProtocol,
  commits: readonly number[],
): Iterable<Step<EventsState>> {
  const { jobs, logs, workers } = state;
  const applied = database.viewOf(database.applied(state.durable, logs));
  const visible = database.reads(state, 'majority');
  const isPending = (commit: number) =>
    visible.some(({ plants }) => plants.some((stored) => stored?.commit === commit && stored.pending));
  const to = (label: string, fault: boolean, index: number, job: Job): Step<EventsState> => ({
    label,
    fault,
    next: { ...state, jobs: jobs.with(index, job) },
  });

  for (const [index, commit] of commits.entries()) {
    const job = jobs[index] as Job;
    const shares = protocol.sharedJobs ? sharesOf(commit, commits) : [[commit]];

    if (job.state !== 'none') yield to(`Redis loses job ${commit}`, true, index, { state: 'none' });
    if (job.state === 'waiting') {
      yield to(`Redis loses the place of job ${commit} in the list`, true, index, { state: 'lost' });
    }
    if ('commits' in job && job.commits.length > 1) {
      yield to(`Redis loses the contents of job ${commit}`, true, index, { ...job, commits: [commit] });
    }

    // Published by the API; delivered late; come back with an older append-only file.
    if (job.state !== 'waiting') {
      for (const named of shares) {
        const label = `job ${named.join('+')} is published`;
        if (protocol.clearsWhen === 'audited') {
          yield to(label, true, index, { state: 'waiting', commits: named });
        } else if (
          job.state === 'none' &&
          applied.plants.some((stored) => stored?.commit === commit && stored.pending)
        ) {
          const written = database.write(logs, { kind: 'clear of a commit', commit });
          if (written === undefined) continue;
          const next = {
            ...state,
            logs: written,
            jobs: jobs.with(index, { state: 'waiting', commits: named } as const),
          };
          yield { label: `${label} and its flags are cleared`, fault: false, next };
        }
      }
    }

    const isNamed = jobs.some((other) => other.state === 'waiting' && other.commits.includes(commit));
    if (job.state === 'none' && isPending(commit) && !isNamed) {
      yield to(`the relay publishes ${commit}`, false, index, { state: 'waiting', commits: [commit] });
    }
    if (job.state === 'lost' && protocol.releases && isPending(commit)) {
      yield to(`the relay releases ${commit}`, false, index, { state: 'none' });
    }
    const isRetried =
      protocol.retries === 'all' || (protocol.retries === 'with pending plants' && isPending(commit));
    if (job.state === 'failed' && isRetried) {
      yield to(`the relay retries ${commit}`, false, index, { state: 'waiting', commits: job.commits });
    }
    if (job.state === 'active') {
      const holder = workers[job.worker];
      const isRunning = holder.at !== 'idle' && holder.job === index;
      yield to(`job ${commit} stalls, waits again`, isRunning, index, {
        state: 'waiting',
        commits: job.commits,
      });
      yield to(`job ${commit} stalls, fails`, isRunning, index, { state: 'failed', commits: job.commits });
    }
  }
}

/** What jobs with the id of a commit may name: it comes first, and any others, since commits end in any order. */
function sharesOf(first: number, commits: readonly number[]): number[][] {
  let shares = [[first]];
  for (const commit of commits) {
    if (commit !== first) shares = shares.flatMap((share) => [share, [...share, commit]]);
  }
  return shares;
}
