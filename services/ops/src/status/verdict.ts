import { count } from './figures.ts';
import type { SystemStatus } from './status.ts';

/** How worried to be: all well, work in hand, less than promised, or not doing its job. */
export type Level = 'good' | 'busy' | 'warn' | 'bad';

export type Verdict = { level: Level; headline: string; advice: string };

/** Creations are promised to be indexed and audited within a minute of recovery. */
export const BEHIND_MS = 60_000;

/** The one thing to know first. The gravest comes first, since it usually explains the others. */
export function verdictOn({ database, queue }: SystemStatus): Verdict {
  if (database === undefined) {
    return {
      level: 'bad',
      headline: queue === undefined ? 'MongoDB and Redis are unreachable' : 'MongoDB is unreachable',
      advice:
        'No plant can be created: clients are told to try again. Everything resumes by itself once a primary answers.',
    };
  }
  if (queue === undefined) {
    return {
      level: 'warn',
      headline: 'Redis is unreachable',
      advice:
        'Plants are created as usual; they are indexed and audited once Redis is back. Nothing is lost.',
    };
  }
  if (queue.paused) {
    return {
      level: 'warn',
      headline: 'The queue is paused',
      advice: 'Plants are created as usual; they are indexed and audited once an operator resumes the queue.',
    };
  }
  if (queue.connections === 0) {
    return {
      level: 'warn',
      headline: 'No worker is connected',
      advice: 'Plants are created as usual; they are indexed and audited once a worker runs.',
    };
  }
  if (queue.failed > 0) {
    return {
      level: 'warn',
      headline: queue.failed === 1 ? 'A job has failed' : `${count(queue.failed)} jobs have failed`,
      advice: 'They are retried by themselves. Should they stay, the board tells why.',
    };
  }
  if (Math.max(database.oldestPendingMs, queue.oldestWaitingMs) > BEHIND_MS) {
    return {
      level: 'warn',
      headline: 'Indexing and auditing are behind',
      advice: 'Plants wait for longer than a minute. More workers help when the queue is long.',
    };
  }
  if (database.pending > 0) {
    return { level: 'busy', headline: 'All is well', advice: 'New plants are being indexed and audited.' };
  }
  return { level: 'good', headline: 'All is well', advice: 'Every plant is stored, indexed and audited.' };
}
