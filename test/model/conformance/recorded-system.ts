import { mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ready } from '../../harness/api/api.ts';
import { TEST_SECRET } from '../../harness/api/tokens.ts';
import { type Program, startProgram } from '../../harness/processes/program.ts';
import { note, type Recorded, type RecordedStep, readRecorded } from './recorded.ts';

const recorder = pathToFileURL(join(import.meta.dirname, 'recorder.ts')).href;

/** API replicas and workers as processes of their own that record what they do. */
export type RecordedSystem = AsyncDisposable & {
  /** @param name `api-0`, `worker-1`, …; a name may be started again once it has ended. */
  start: (name: string, mongodbUrl: string) => Promise<Program>;
  /** Ends it with SIGKILL. */
  kill: (name: string) => Promise<void>;
  /** Ends all others with SIGTERM, so that what they record is complete. */
  stop: () => Promise<void>;
  note: (step: RecordedStep) => void;
  recorded: () => Recorded[];
};

export function recordedSystem(queue: { url: string; prefix: string }): RecordedSystem {
  const directory = mkdtempSync(join(tmpdir(), 'trace-'));
  const file = join(directory, 'trace');
  writeFileSync(file, '');
  const programs = new Map<string, Program>();

  const stop = async () => {
    await Promise.all([...programs.values()].map((program) => program.stop()));
    programs.clear();
  };
  return {
    async start(name, mongodbUrl) {
      const program = await startProgram(name.startsWith('api') ? 'api' : 'worker', {
        MONGODB_URL: mongodbUrl,
        REDIS_URL: queue.url,
        QUEUE_PREFIX: queue.prefix,
        AUTH_SECRET: TEST_SECRET,
        INSTANCE: name,
        DRAIN_MS: '0',
        // One job at a time, as in the model; batches of several jobs are its scope `batches`.
        WORKER_CONCURRENCY: '1',
        AUDIT_CHAINS: '1',
        RELAY_INTERVAL_MS: '100',
        RELAY_AGE_MS: '300',
        TRACE_FILE: file,
        NODE_OPTIONS: `--import ${recorder}`,
      });
      programs.set(name, program);
      await ready(program.internalUrl);
      return program;
    },
    async kill(name) {
      const program = programs.get(name) as Program;
      programs.delete(name);
      program.signal('SIGKILL');
      await program.ended;
      note(file, { kind: 'killed', process: name });
    },
    stop,
    note: (step) => note(file, step),
    recorded: () => readRecorded(file),
    [Symbol.asyncDispose]: async () => {
      await stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
