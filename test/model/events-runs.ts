import type { EventsProtocol } from './events-model.ts';
import type { Run } from './storage-runs.ts';

const one = [[0]];
const together = [[0], [0]];
const apart = [[0], [1]];
/** One id, whose insert may be rolled back and come again in another commit. */
const moving = [[0, 1]];

/** What holds, from the smallest scope to the largest; `long` ones take more than some seconds. */
const scopes: Run<EventsProtocol>[] = [
  { name: 'one plant, three writes beyond the majority', deviation: { homes: one, logLengthMax: 3 } },
  { name: 'one plant, sharded', deviation: { homes: one, sharded: true } },
  { name: 'one plant, an old primary answers', deviation: { homes: one, deposedReads: true } },
  { name: 'one plant, again in another commit', deviation: { homes: moving, logLengthMax: 1 } },
  {
    name: 'one plant, again in another commit, shared jobs',
    long: true,
    deviation: { homes: moving, logLengthMax: 1, sharedJobs: true },
  },
  {
    name: 'one plant, again in another commit, sharded',
    long: true,
    deviation: { homes: moving, logLengthMax: 1, sharded: true },
  },
  { name: 'one plant, again in another commit, two writes', long: true, deviation: { homes: moving } },
  {
    name: 'two plants in a commit, one write',
    long: true,
    deviation: { homes: together, logLengthMax: 1 },
  },
  { name: 'two plants in a commit', long: true, deviation: { homes: together } },
  {
    name: 'two plants in a commit, sharded',
    long: true,
    deviation: { homes: together, logLengthMax: 1, sharded: true },
  },
  { name: 'two plants in a commit, two chains', long: true, deviation: { homes: together, chains: [0, 1] } },
  { name: 'two commits, a job each', long: true, deviation: { homes: apart, logLengthMax: 1 } },
  {
    name: 'two commits, shared jobs',
    long: true,
    deviation: { homes: apart, logLengthMax: 1, sharedJobs: true },
  },
  {
    name: 'two commits, shared jobs, batches',
    long: true,
    deviation: { homes: apart, logLengthMax: 1, sharedJobs: true, batches: true },
  },
  {
    name: 'two commits, heads remembered',
    long: true,
    deviation: { homes: apart, logLengthMax: 1, remembersHeads: 'sealed' },
  },
];

const variants: Run<EventsProtocol>[] = [
  {
    name: 'a relay that looks at pending plants alone, where failed jobs may stay',
    deviation: { homes: one, retries: 'with pending plants', jobsLeft: ['none', 'lost', 'failed'] },
  },
];

const deviations: Run<EventsProtocol>[] = [
  { name: 'flags cleared when published', breaks: 'E3', deviation: { clearsWhen: 'published' } },
  { name: 'pending plants read locally', breaks: 'E2', deviation: { pendingRead: 'local' } },
  {
    name: 'pending plants read locally, sharded',
    breaks: 'E2',
    deviation: { pendingRead: 'local', sharded: true, homes: one },
  },
  {
    name: 'the head of a chain read locally',
    breaks: 'the chain is broken',
    deviation: { headRead: 'local', homes: one },
  },
  {
    name: 'a head remembered whose block no majority acknowledged',
    breaks: 'the chain is broken',
    deviation: { remembersHeads: 'sent', homes: one },
  },
  { name: 'audited events read locally', breaks: 'E3', deviation: { eventsRead: 'local' } },
  {
    name: 'audited events read locally, sharded',
    breaks: 'E3',
    deviation: { eventsRead: 'local', sharded: true },
  },
  { name: 'audit blocks with w:1', breaks: 'E3', deviation: { auditWrites: 'w:1', homes: one } },
  {
    name: 'audit blocks with w:1, sharded',
    breaks: 'E3',
    deviation: { auditWrites: 'w:1', sharded: true, homes: one },
  },
  { name: 'index entries with w:1', breaks: 'E3', deviation: { indexWrites: 'w:1', homes: one } },
  { name: 'no unique event', breaks: 'E1', deviation: { uniqueEvent: false } },
  { name: 'no unique event, two chains', breaks: 'E1', deviation: { uniqueEvent: false, chains: [0, 1] } },
  {
    name: 'no unique (chain, height)',
    breaks: 'the chain forks',
    deviation: { uniqueHeight: false, homes: apart, logLengthMax: 2 },
  },
  { name: 'neither unique index', breaks: 'E1', deviation: { uniqueHeight: false, uniqueEvent: false } },
  {
    name: 'a refused block sent again as it was',
    breaks: 'stuck',
    deviation: { planAgain: false, homes: one },
  },
  { name: 'cleared by commit', breaks: 'E3', deviation: { clears: 'commit' } },
  { name: 'completed jobs kept', breaks: 'stuck', deviation: { completedJobs: 'kept', homes: one } },
  { name: 'failed jobs never retried', breaks: 'stuck', deviation: { retries: 'none', homes: one } },
  {
    name: 'failed jobs retried with pending plants alone',
    breaks: 'stuck',
    deviation: { retries: 'with pending plants', homes: one },
  },
  { name: 'ids of lost jobs never released', breaks: 'stuck', deviation: { releases: false, homes: one } },
];

export const eventsRuns = [...scopes, ...variants, ...deviations];
