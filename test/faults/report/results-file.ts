import { existsSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { serverBinary } from '@plant-store/local/servers/binaries/server-binary';
import { serverVersion } from '@plant-store/local/servers/binaries/server-version';
import { nginxVersion } from '../../../deploy/gateway/gateway-command.ts';
import { VERSION } from '../../../packages/platform/src/process/version.ts';
import { type MutantResult, mergeResults, type Results, type RowResult } from './results.ts';

/** The results of this run, with those that an earlier run has left in the file. */
export async function withEarlier(
  found: { results?: readonly RowResult[]; mutants?: readonly MutantResult[] },
  file: string,
): Promise<Results> {
  const earlier = existsSync(file) ? readResults(file) : undefined;
  const mutants = new Map(
    [...(earlier?.mutants ?? []), ...(found.mutants ?? [])].map((mutant) => [mutant.name, mutant]),
  );
  return {
    date: new Date().toISOString().slice(0, 10),
    versions: await testedVersions(),
    machine: `${cpus().length} cores (${cpus()[0]?.model.trim() ?? 'unknown'})`,
    results: mergeResults(earlier?.results ?? [], found.results ?? []),
    mutants: [...mutants.values()],
  };
}

export function readResults(file: string): Results {
  return JSON.parse(readFileSync(file, 'utf8')) as Results;
}

async function testedVersions(): Promise<Results['versions']> {
  const versionOf = async (server: 'mongod' | 'redis-server') =>
    (await serverVersion(await serverBinary(server, () => {}))) ?? 'unknown';
  return {
    product: VERSION,
    mongod: await versionOf('mongod'),
    redis: await versionOf('redis-server'),
    node: process.versions.node,
    nginx: (await nginxVersion()) ?? 'none',
  };
}
