import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { plantJson } from '../../harness/api/post-plant.ts';
import { token } from '../../harness/api/tokens.ts';
import { type Program, startProgram } from '../../harness/processes/program.ts';
import { testEnvironment } from '../../harness/servers/servers.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { flood } from '../harness/flood.ts';
import { openFilesMax } from '../harness/open-files.ts';
import { type AccessLine, installedNginx, startGateway } from '../harness/running-gateway.ts';

/** From a create's arrival at the API to its answer. */
const API_SECONDS = 4;
/** nginx needs two connections for each create, and has them from its memory, as far as the system allows files. */
const OPEN_FILES = 11_000;

const environment = testEnvironment();
const enoughFiles = (await openFilesMax()) >= OPEN_FILES;
if (!enoughFiles) process.stderr.write(`a burst of creates: skipped, needs ${OPEN_FILES} open files\n`);

describe.skipIf(installedNginx === undefined || !enoughFiles)('a burst on an idle store', () => {
  const mongo = new MongoClient(environment.MONGODB_URL, { useBigInt64: true });
  const plants = mongo.db().collection('plants');
  let api: Program;
  beforeAll(async () => {
    api = await startProgram('api', environment);
  });
  afterAll(async () => {
    await api?.stop();
    await mongo.close();
  });

  // A busy machine is too slow for some of them: at a load of 27 on two cores, 946 and 1,779 were created.
  test.each([
    { atOnce: 1_000, createdMin: 750 },
    { atOnce: 4_000, createdMin: 1_000 },
  ])(
    '$atOnce connections at once, each with a create: the gateway refuses none, the API none while it has time',
    async ({ atOnce, createdMin }) => {
      await using gateway = await startGateway({ upstreams: [new URL(api.url).host] });
      const authorization = `Authorization: Bearer ${token()}\r\nContent-Type: application/json`;
      const create = (connection: number) => {
        const plant = plantJson({ id: BigInt(10 * atOnce + connection), name: 'fern' });
        return `POST /plants HTTP/1.1\r\nHost: a\r\n${authorization}\r\nContent-Length: ${plant.length}\r\n\r\n${plant}`;
      };
      const storedBefore = await plants.countDocuments();
      await using creates = await flood(gateway.port, atOnce, create);
      await waitFor(() => creates.held() === 0, { withinMs: 40_000, what: 'all are answered' });
      const lines = await gateway.accessLog((lines) => lines.length === atOnce);
      const refused = lines.filter(({ status }) => status !== 200);
      expect(refused.filter(neverSent).length, 'refused by the gateway').toBe(0);
      expect(refused.filter(({ seconds }) => seconds < API_SECONDS).length, 'refused in time').toBe(0);
      const created = atOnce - refused.length;
      expect(created).toBeGreaterThanOrEqual(createdMin);
      expect(await plants.countDocuments()).toBeGreaterThanOrEqual(storedBefore + created);
    },
  );
});

/** As `$never_sent` tells in the gateway: one figure for each replica tried. */
function neverSent({ upstreamBytes }: AccessLine): boolean {
  return /^[-0,: ]*$/.test(`${upstreamBytes}`);
}
