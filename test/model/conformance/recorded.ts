import { appendFileSync, readFileSync } from 'node:fs';
import { BSON } from 'mongodb';

/** A reply as far as traces need it. */
export type Reply = {
  writeErrors?: { index: number; code: number }[];
  writeConcernError?: unknown;
  nModified?: number;
  cursor?: { firstBatch?: BSON.Document[] };
};

/** What a service did, or what the test did to it, in the order in which it was written down. */
export type RecordedStep =
  | { kind: 'command'; phase: 'started'; id: number; name: string; body: BSON.Document }
  | { kind: 'command'; phase: 'replied'; id: number; reply: BSON.Document }
  | { kind: 'command'; phase: 'failed'; id: number }
  | { kind: 'publication'; phase: 'started'; id: number; commits: string[][] }
  | { kind: 'publication'; phase: 'replied'; id: number }
  | { kind: 'job'; event: 'active' | 'completed' | 'failed' | 'stalled' | 'retried'; job: string }
  | { kind: 'job'; event: 'released' }
  | { kind: 'killed'; process: string }
  | { kind: 'fault began' | 'fault ended'; fault: 'failover' | 'flush' }
  | { kind: 'client sends'; client: 0 | 1 }
  | { kind: 'client is answered'; client: 0 | 1; answer: number };

export type Recorded = RecordedStep & { who: string };

export function readRecorded(file: string): Recorded[] {
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => BSON.EJSON.parse(line, { relaxed: true, useBigInt64: true }) as Recorded);
}

/** The test's own steps, in the same file as those of the services. */
export function note(file: string, step: RecordedStep): void {
  appendFileSync(file, `${BSON.EJSON.stringify({ who: 'test', ...step }, { relaxed: false })}\n`);
}
