/** The function of the product that takes a step, or what else does: the database, Redis, clients, faults. */
export type TakenBy = { file: string; name: string } | 'environment';

const groupCommit = 'services/api/src/domain/commit-plants.ts';
const resolving = 'services/api/src/domain/resolve-outcome.ts';
const creating = 'services/api/src/domain/create-plant.ts';
const storage = 'services/api/src/storage/mongo-plants.ts';
const publishing = 'services/api/src/queue/creation-publisher.ts';
const relay = 'services/worker/src/outbox/relay.ts';
const jobs = 'services/worker/src/jobs/bullmq-creation-worker.ts';
const creationJob = 'services/worker/src/jobs/process-creation-job.ts';
const pending = 'services/worker/src/jobs/mongo-pending-plants.ts';
const index = 'packages/search/src/mongo/mongo-search-index.ts';
const sealing = 'packages/audit/src/sealing/seal-entries.ts';
const chains = 'packages/audit/src/sealing/audit-chains.ts';

const by = (file: string, name: string): TakenBy => ({ file, name });

/**
 * Who takes each step of the storage model, by its label. A function that is renamed, moved or removed breaks a test,
 * and so does a step of the model that nothing here takes: change both together.
 */
export const storageSteps: readonly [label: RegExp, takenBy: TakenBy][] = [
  [/^client \d sends$/, 'environment'],
  [/^a majority has it$/, 'environment'],
  [/^failover/, 'environment'],
  [/^the old primary steps down$/, 'environment'],
  [/^(?:a late insert of \d lands|an insert of \d is lost)$/, 'environment'],
  [/^the API of \d crashes$/, 'environment'],
  [/^\d reads first$/, by(creating, 'createPlant')],
  [/^\d inserts(?:, no reply|, 200)?$/, by(storage, 'insertTogether')],
  [/^\d meets a duplicate key/, by(storage, 'toReport')],
  [/^\d meets (?:an error|a write concern error, 200)$/, by(storage, 'toReport')],
  [/^\d is acknowledged, 200$/, by(groupCommit, 'commitPlants')],
  [/^\d runs out of time, 5002$/, by(groupCommit, 'commitPlants')],
  [/^\d finds nothing/, by(groupCommit, 'resolveByReading')],
  [/^\d finds (?:its own|another)/, by(resolving, 'resolveOutcome')],
];

/** The same of the events model. */
export const eventsSteps: readonly [label: RegExp, takenBy: TakenBy][] = [
  [/^a majority has the /, 'environment'],
  [/^failover, rolled back: /, 'environment'],
  [/^the old primary steps down$/, 'environment'],
  [/^plant \d is inserted by commit \d$/, by(storage, 'insertTogether')],
  [/^Redis loses /, 'environment'],
  [/^job [\d+]+ is published/, by(publishing, 'creationPublisher')],
  [/^the relay publishes \d$/, by(relay, 'publish')],
  [/^the relay releases \d$/, by(relay, 'takenIds')],
  [/^the relay retries \d$/, by('services/worker/src/outbox/retries.ts', 'createRetries')],
  [/^job \d stalls, /, 'environment'],
  [/^w\d crashes$/, 'environment'],
  [/^w\d takes \d$/, by(jobs, 'bullmqCreationWorker')],
  [/^w\d fails, the job is /, by(creationJob, 'processCreationJob')],
  [/^w\d reads \[/, by(pending, 'pages')],
  [/^w\d (?:indexes|has indexed)$/, by(index, 'mongoSearchIndex')],
  [/^w\d sends block \d /, by(sealing, 'appendOnChain')],
  [/^w\d has sealed$/, by(chains, 'createAuditChains')],
  [/^w\d (?:sees its block refused|gets no reply for its block)$/, by(sealing, 'sealInOneBlock')],
  [/^w\d finds \[.*\] not audited$/, by(sealing, 'notSealed')],
  [/^block \d of w\d (?:lands|is refused|is lost)$/, 'environment'],
  [/^w\d (?:clears|has nothing to clear)$/, by(pending, 'clear')],
  [/^w\d completes$/, by(creationJob, 'processCreationJob')],
];
