import { errorCatalogue } from '@plant-store/contracts/error-catalogue';
import { freePort } from '@plant-store/local/servers/free-port';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Program, startProgram } from '../../harness/processes/program.ts';
import { testDatabase, testEnvironment, testQueue } from '../../harness/servers/servers.ts';
import { underLoadMs, waitFor } from '../../harness/wait-for.ts';
import {
  type AccessLine,
  installedNginx,
  type RunningGateway,
  startGateway,
} from '../harness/running-gateway.ts';
import { type Outcome, type SteadyLoad, startLoad } from '../harness/steady-load.ts';

const CLIENTS = 16;
/** Enough that every replica has work at any moment. */
const WARM = 500;

const database = testDatabase();
const queue = testQueue();

describe.skipIf(installedNginx === undefined)('three replicas of the API under load', () => {
  const mongo = new MongoClient(database.url, { useBigInt64: true });
  const environment = testEnvironment({ mongodbUrl: database.url, queue });
  let ports: number[];
  let replicas: Program[];
  let gateway: RunningGateway;
  beforeAll(async () => {
    ports = await Promise.all([freePort(), freePort(), freePort()]);
    replicas = await Promise.all(ports.map(startReplica));
    gateway = await startGateway({ upstreams: ports.map((port) => `127.0.0.1:${port}`) });
  });
  afterAll(async () => {
    await gateway?.[Symbol.asyncDispose]();
    await Promise.all((replicas ?? []).map(kill));
    await mongo.close();
  });

  const startReplica = (port: number) => startProgram('api', { ...environment, PORT: String(port) });
  const replica = (at: number) => replicas[at] as Program;

  /** Starts an ended replica again, on its port. */
  async function restart(at: number): Promise<void> {
    replicas[at] = await startReplica(ports[at] as number);
  }

  function kill(program: Program): Promise<unknown> {
    program.signal('SIGKILL');
    return program.ended;
  }

  async function warmLoad(): Promise<SteadyLoad> {
    const load = startLoad(gateway.url, CLIENTS);
    await progress(load, WARM);
    return load;
  }

  const progress = (load: SteadyLoad, more: number) => {
    const enough = load.outcomes.length + more;
    return waitFor(() => load.outcomes.length >= enough, {
      withinMs: 30_000,
      what: `${more} more answers`,
    });
  };

  async function expectStored(outcomes: readonly Outcome[]): Promise<void> {
    const ids = outcomes.filter(({ status }) => status === 200).map(({ id }) => id);
    const stored = await mongo
      .db()
      .collection<{ _id: bigint }>('plants')
      .countDocuments({ _id: { $in: ids } });
    expect(stored).toBe(ids.length);
  }

  let answered = 0;

  /** Ends a load. Its answers, and what the gateway has logged of all loads so far: a line for each answer. */
  async function end(load: SteadyLoad): Promise<{ outcomes: readonly Outcome[]; lines: AccessLine[] }> {
    const outcomes = await load.stop();
    answered += outcomes.filter(({ status }) => status !== 0).length;
    return { outcomes, lines: await gateway.accessLog((lines) => lines.length >= answered) };
  }

  /** By the gateway's own clock. Where the machine is busy its timers are late, too. */
  function expectNobodyWaits5s(lines: AccessLine[]): void {
    const limit = underLoadMs(5_000) / 1_000;
    expect(lines.filter(({ seconds }) => seconds >= limit)).toEqual([]);
  }

  test('all three serve', async () => {
    await using load = await warmLoad();
    const { outcomes, lines } = await end(load);
    expect(failures(outcomes)).toEqual([]);
    expect(new Set(lines.map((line) => line['upstream']))).toEqual(
      new Set(ports.map((port) => `127.0.0.1:${port}`)),
    );
  });

  test('one is killed: no create fails but those it had in its hands, and it comes back', async () => {
    await using load = await warmLoad();
    const killed = performance.now();
    await kill(replica(0));
    const gone = performance.now();
    await progress(load, WARM);
    await restart(0);
    await progress(load, WARM);
    const { outcomes } = await end(load);

    const failed = failures(outcomes);
    expect(failed.length).toBeLessThanOrEqual(CLIENTS);
    for (const outcome of failed) {
      expect(outcome).toMatchObject({ status: 503, error: errorCatalogue.outcomeUnknown.error });
      expect(outcome.began).toBeLessThanOrEqual(gone);
      expect(outcome.ended).toBeGreaterThanOrEqual(killed);
    }
    await expectStored(outcomes);
  });

  test('one is stopped: nobody waits over 5 s, and the others serve on', async () => {
    await using load = await warmLoad();
    replica(1).signal('SIGSTOP');
    await progress(load, WARM);
    await waitFor(() => load.outcomes.some(({ status }) => status === 503), {
      withinMs: 15_000,
      what: 'those that it had are answered',
    });
    const known = performance.now();
    await progress(load, WARM);
    replica(1).signal('SIGCONT');
    const { outcomes, lines } = await end(load);

    expectNobodyWaits5s(lines);
    expect(lines.some(({ seconds }) => seconds > 4)).toBe(true);
    for (const { status, error } of failures(outcomes)) expect([status, error]).toEqual([503, 5002]);
    // Once it is known to be silent, one request a second at most is spent on asking again.
    const later = failures(outcomes.filter(({ began }) => began > known));
    expect(later.length).toBeLessThanOrEqual(1 + (performance.now() - known) / 1_000);
    await expectStored(outcomes);
  });

  test('they restart one after the other: not one create fails', async () => {
    await using load = await warmLoad();
    for (const at of [0, 1, 2]) {
      expect(await replica(at).stop()).toBe(0);
      await restart(at);
    }
    await progress(load, WARM);
    const { outcomes } = await end(load);
    expect(failures(outcomes)).toEqual([]);
    await expectStored(outcomes);
  });

  test('all are gone: 5001 or 5002 within 5 s; one back is enough', async () => {
    await using load = await warmLoad();
    await Promise.all(replicas.map(kill));
    await waitFor(() => load.outcomes.some(({ error }) => error === errorCatalogue.notStored.error), {
      withinMs: 15_000,
      what: 'creates are refused for certain',
    });
    await restart(2);
    const back = performance.now();
    await waitFor(() => load.outcomes.some(({ began, status }) => began > back && status === 200), {
      withinMs: 15_000,
      what: 'creates succeed again',
    });
    const { outcomes, lines } = await end(load);
    expectNobodyWaits5s(lines);
    await expectStored(outcomes);
  });
});

function failures(outcomes: readonly Outcome[]): Outcome[] {
  return outcomes.filter(({ status }) => status !== 200);
}
