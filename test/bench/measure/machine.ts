import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, loadavg, release, totalmem, type } from 'node:os';
import { resolve } from 'node:path';
import { wrk } from '../load/run-load.ts';
import type { Ground } from '../systems/ground.ts';

export type Machine = {
  cpu: string;
  cores: number;
  memoryBytes: number;
  os: string;
  /** What else kept the machine busy when the run began: processes ready to run, over the last minute. */
  loadBefore: number;
  versions: Record<string, string>;
};

const root = resolve(import.meta.dirname, '../../..');
const LIBRARIES = ['fastify', 'mongodb', 'bullmq', 'mongoose', '@nestjs/core', 'express'];

export async function describeMachine(ground: Ground): Promise<Machine> {
  return {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memoryBytes: totalmem(),
    os: `${type()} ${release()}`,
    loadBefore: loadavg()[0] as number,
    versions: {
      node: process.versions.node,
      ...(await ground.versions()),
      generator: wrk === undefined ? 'load/generator.ts' : 'wrk',
      ...Object.fromEntries(LIBRARIES.map((library) => [library, installed(library)])),
    },
  };
}

export function currentCommit(): string {
  try {
    const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
    return git('rev-parse', '--short=12', 'HEAD') + (git('status', '--porcelain') === '' ? '' : '+');
  } catch {
    return 'unknown';
  }
}

function installed(library: string): string {
  const file = resolve(root, 'node_modules', library, 'package.json');
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}
