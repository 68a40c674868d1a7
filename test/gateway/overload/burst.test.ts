import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { plantJson } from '../../harness/api/post-plant.ts';
import { token } from '../../harness/api/tokens.ts';
import { type Program, startProgram } from '../../harness/processes/program.ts';
import { testEnvironment } from '../../harness/servers/servers.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { flood } from '../harness/flood.ts';
import { installedNginx, type RunningGateway, startGateway } from '../harness/running-gateway.ts';

const AT_ONCE = 4_000;
/** From a create's arrival at the API to its answer. */
const API_SECONDS = 4;
/** nginx needs two connections for each create, and has them from its memory, as far as the system allows files. */
const OPEN_FILES = 11_000;

const environment = testEnvironment();
const { stdout: hardLimit } = await promisify(execFile)('sh', ['-c', 'ulimit -Hn']);
const enoughFiles = hardLimit.trim() === 'unlimited' || Number(hardLimit) >= OPEN_FILES;
if (!enoughFiles) process.stderr.write(`a burst of creates: skipped, needs ${OPEN_FILES} open files\n`);

describe.skipIf(installedNginx === undefined || !enoughFiles)('a burst on an idle store', () => {
  const mongo = new MongoClient(environment.MONGODB_URL, { useBigInt64: true });
  let api: Program;
  let gateway: RunningGateway;
  beforeAll(async () => {
    api = await startProgram('api', environment);
    gateway = await startGateway({ upstreams: [new URL(api.url).host] });
  });
  afterAll(async () => {
    await gateway?.[Symbol.asyncDispose]();
    await api?.stop();
    await mongo.close();
  });

  test(`${AT_ONCE} connections at once, each with a create: none is refused while it has time`, {
    timeout: 60_000,
  }, async () => {
    const authorization = `Authorization: Bearer ${token()}\r\nContent-Type: application/json`;
    const create = (id: number) => {
      const plant = plantJson({ id: BigInt(id), name: 'fern' });
      return `POST /plants HTTP/1.1\r\nHost: a\r\n${authorization}\r\nContent-Length: ${plant.length}\r\n\r\n${plant}`;
    };
    await using creates = await flood(gateway.port, AT_ONCE, create);
    await waitFor(() => creates.held() === 0, { withinMs: 40_000, what: 'all are answered' });
    const lines = await gateway.accessLog((lines) => lines.length === AT_ONCE);
    // On a machine that is too busy for so many, some may use up the time that the API has for them: no other reason.
    const refused = lines.filter(({ status }) => status !== 200);
    expect(refused.filter(({ seconds }) => seconds < API_SECONDS)).toEqual([]);
    const created = AT_ONCE - refused.length;
    expect(created).toBeGreaterThan(0);
    expect(await mongo.db().collection('plants').countDocuments()).toBeGreaterThanOrEqual(created);
  });
});
