import { openSync, writeSync } from 'node:fs';
import { Job, Queue, Worker } from 'bullmq';
import { BSON, MongoClient } from 'mongodb';
import type { RecordedStep } from './recorded.ts';

/**
 * Loaded before a service (`node --import`): writes what it does to MongoDB and to the queue to TRACE_FILE, as it
 * happens. The driver's command monitoring and BullMQ's own functions and events are observed; the service runs
 * unchanged. All processes append to one file: a command is written before it is sent and its reply after it came, so
 * the order of the lines agrees with cause and effect.
 */
const OBSERVED = new Set<unknown>(['plants', 'plant_search', 'audit_blocks']);
const file = openSync(process.env['TRACE_FILE'] as string, 'a');
const who = process.env['INSTANCE'] as string;

function record(step: RecordedStep): void {
  writeSync(file, `${BSON.EJSON.stringify({ who, ...step }, { relaxed: false })}\n`);
}

const { connect } = MongoClient.prototype;
const observed = new WeakSet<MongoClient>();
MongoClient.prototype.connect = function observedConnect(this: MongoClient) {
  if (!observed.has(this)) observe(this);
  return connect.call(this);
};

function observe(client: MongoClient): void {
  observed.add(client);
  // As `monitorCommands: true` among its options: they are read when it connects.
  (client as unknown as { monitorCommands: boolean }).monitorCommands = true;
  const open = new Set<number>();
  client.on('commandStarted', ({ requestId: id, commandName: name, command }) => {
    if (!OBSERVED.has(command[name])) return;
    open.add(id);
    const { lsid, $clusterTime, $db, ...body } = command;
    record({ kind: 'command', phase: 'started', id, name, body });
  });
  client.on('commandSucceeded', ({ requestId: id, reply }) => {
    if (!open.delete(id)) return;
    record({ kind: 'command', phase: 'replied', id, reply: partOf(reply as BSON.Document) });
  });
  client.on('commandFailed', ({ requestId: id }) => {
    if (open.delete(id)) record({ kind: 'command', phase: 'failed', id });
  });
}

function partOf(reply: BSON.Document): BSON.Document {
  const kept = ['writeErrors', 'writeConcernError', 'nModified', 'cursor'];
  return Object.fromEntries(Object.entries(reply).filter(([name]) => kept.includes(name)));
}

let publications = 0;

/** Records a call that publishes jobs, and its end. */
async function publication<T>(jobs: readonly { data: unknown }[], publish: () => Promise<T>): Promise<T> {
  const id = publications++;
  const commits = jobs.map(({ data }) =>
    (data as { commits: { commit: string }[] }).commits.map(({ commit }) => commit),
  );
  record({ kind: 'publication', phase: 'started', id, commits });
  const published = await publish();
  record({ kind: 'publication', phase: 'replied', id });
  return published;
}

const { add, addBulk, removeOrphanedJobs } = Queue.prototype;
Queue.prototype.add = function observedAdd(this: Queue, ...job: Parameters<Queue['add']>) {
  return publication([{ data: job[1] }], () => add.apply(this, job));
};
Queue.prototype.addBulk = function observedAddBulk(this: Queue, jobs: Parameters<Queue['addBulk']>[0]) {
  return publication(jobs, () => addBulk.call(this, jobs));
};
Queue.prototype.removeOrphanedJobs = function observedRemoval(this: Queue, ...limits) {
  record({ kind: 'job', event: 'released' });
  return removeOrphanedJobs.apply(this, limits);
};

const { retry } = Job.prototype;
Job.prototype.retry = function observedRetry(this: Job, ...options) {
  record({ kind: 'job', event: 'retried', job: this.id as string });
  return retry.apply(this, options);
};

const { emit } = Worker.prototype;
const RECORDED_EVENTS = ['active', 'completed', 'failed', 'stalled'] as const;
Worker.prototype.emit = function observedEmit(this: Worker, ...event: unknown[]) {
  const [name, job] = event as [string, Job | string | undefined];
  const recordedEvent = RECORDED_EVENTS.find((recorded) => recorded === name);
  const id = typeof job === 'string' ? job : job?.id;
  if (recordedEvent !== undefined && id !== undefined) record({ kind: 'job', event: recordedEvent, job: id });
  return Reflect.apply(emit, this, event) as boolean;
};
