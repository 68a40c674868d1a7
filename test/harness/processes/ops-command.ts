import { execFile } from 'node:child_process';
import { join } from 'node:path';

const MAIN = join(import.meta.dirname, '../../../services/ops/src/commands/main.ts');

export type Ran = { code: number; out: string; err: string };

/** Runs a command as `npm run ops` does, without a terminal. Of the surroundings it gets no address of a server. */
export function opsCommand(args: readonly string[], environment: Record<string, string>): Promise<Ran> {
  const { MONGODB_URL: _mongodb, REDIS_URL: _redis, DATA_DIR: _directory, ...inherited } = process.env;
  return new Promise((resolve) => {
    const env = { ...inherited, ...environment };
    execFile(process.execPath, [MAIN, ...args], { env }, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    ).stdin?.end();
  });
}
