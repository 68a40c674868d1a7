import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { createSigner } from 'fast-jwt';
import { type Program, startProgram } from '../harness/program.ts';

const MAIN = resolve(import.meta.dirname, '../../services/api/src/main.ts');

export type RunningApi = AsyncDisposable & {
  url: string;
  /** An access token of this subject, good for ten minutes. */
  token: (subject?: string) => string;
  program: Program;
};

/** The API as a process of its own, with a secret of its own. */
export async function startRunningApi(environment: {
  MONGODB_URL: string;
  REDIS_URL: string;
  QUEUE_PREFIX: string;
}): Promise<RunningApi> {
  const secret = randomBytes(48).toString('base64');
  const program = await startProgram(MAIN, {
    ...environment,
    AUTH_SECRET: secret,
    PORT: '0',
    DRAIN_MS: '0',
    LOG_LEVEL: 'info',
  });
  const sign = createSigner({ key: secret, expiresIn: 600_000 });
  return {
    url: program.listening.url as string,
    token: (subject = 'contract-test') => sign({ sub: subject }),
    program,
    [Symbol.asyncDispose]: () => program[Symbol.asyncDispose](),
  };
}
