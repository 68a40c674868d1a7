import { tmpdir } from 'node:os';
import { errorCatalogue } from '@plant-store/contracts/error-catalogue';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Outcome, type SteadyLoad, startLoad } from '../gateway/harness/steady-load.ts';
import { freshId, postPlant } from '../harness/api/post-plant.ts';
import { token } from '../harness/api/tokens.ts';
import { processesOf } from '../harness/processes/processes.ts';
import { waitFor } from '../harness/wait-for.ts';
import { type ComposeProject, composeCommand, composeProject } from './compose-project.ts';
import { containersOf, execute, inspect, leftOf, logsOf } from './engine.ts';

const BUILD_AND_START_MS_MAX = 600_000;
const READY_MS_MAX = 120_000;
const DOWN_MS_MAX = 120_000;
const CLIENTS = 8;
const WARM = 300;
const IN_A_ROW = 30;
/** A question is one argument of a command, which Linux bounds at 128 KiB. */
const IDS_ASKED_AT_ONCE = 2_000;
const SERVICES = ['api', 'gateway', 'mongo-1', 'ops', 'redis', 'setup', 'worker'];

describe.skipIf(composeCommand === undefined)('docker-compose.yml', { timeout: READY_MS_MAX }, () => {
  let project: ComposeProject;
  let accessToken: string;

  const create = () => postPlant(project.url, { id: freshId(), name: 'fern' }, { accessToken });
  /** Creates succeed, whichever replica answers. */
  async function serves(): Promise<void> {
    let inARow = 0;
    const lasting = async () => {
      inARow = (await create()).status === 200 ? inARow + 1 : 0;
      return inARow >= IN_A_ROW;
    };
    await waitFor(lasting, { withinMs: READY_MS_MAX, what: `${IN_A_ROW} creates succeed in a row` });
  }

  beforeAll(async () => {
    project = await composeProject();
    accessToken = token({ key: project.environment['AUTH_SECRET'] as string });
    await project.compose('up', '-d', '--build', '--scale', 'api=3');
    await serves();
  }, BUILD_AND_START_MS_MAX);
  afterAll(async () => {
    await project?.down();
    await project?.forget();
  }, DOWN_MS_MAX);

  async function warmLoad(): Promise<SteadyLoad> {
    const load = startLoad(project.url, CLIENTS, accessToken);
    await progress(load);
    return load;
  }

  const progress = (load: SteadyLoad) => {
    const enough = load.outcomes.length + WARM;
    return waitFor(() => load.outcomes.length >= enough, { withinMs: 30_000, what: 'more answers' });
  };

  /** What an expression in mongosh gives, as JSON, asked on a member as the administrator or a service. */
  async function inDatabase<T>(expression: string, account = 'admin'): Promise<T> {
    const [container] = await project.containers('mongo-1');
    const password = `MONGODB_${account.replace('plantstore-', '').toUpperCase()}_PASSWORD`;
    const login = `${account}:${project.environment[password]}`;
    const url = `mongodb://${login}@127.0.0.1:27017/plantstore?authSource=admin&directConnection=true`;
    const output = await execute(container?.id as string, [
      ...['mongosh', '--quiet', '--norc', url, '--eval', `print(EJSON.stringify(${expression}))`],
    ]);
    return JSON.parse(output) as T;
  }

  /** Ends the process of a container as a crash does; the engine starts the container again. */
  async function crash(service: string, program: string): Promise<string> {
    const id = (await project.containers(service))[0]?.id as string;
    await execute(id, ['sh', '-c', `kill -9 $(pidof ${program})`]);
    return id;
  }

  test('three replicas of the API serve creates through the gateway', async () => {
    await using load = await warmLoad();
    const outcomes = await load.stop();
    expect(outcomes.filter(({ status }) => status !== 200)).toEqual([]);
    expect(await project.containers('api')).toHaveLength(3);
    const [gateway] = await project.containers('gateway');
    await waitFor(async () => upstreams(await logsOf(gateway?.id as string)).size === 3, {
      withinMs: 10_000,
      what: 'the access log names three replicas',
    });
  });

  test('a replica that crashes costs the creates it had in its hands at most, and is started again', async () => {
    await using load = await warmLoad();
    const id = await crash('api', 'node');
    await progress(load);
    const outcomes = await load.stop();
    const failed = outcomes.filter(({ status }) => status !== 200);
    expect(failed.length).toBeLessThanOrEqual(CLIENTS);
    for (const { error } of failed) expect(error).toBe(errorCatalogue.outcomeUnknown.error);
    await waitFor(async () => (await inspect(id)).State.Running, { withinMs: 30_000, what: 'it runs again' });
    await expectAllStored(outcomes);
  });

  test('a worker that crashes loses nothing: every plant is indexed and audited once', async () => {
    await using load = await warmLoad();
    const id = await crash('worker', 'node');
    await progress(load);
    await expectAllStored(await load.stop());
    await waitFor(
      async () => {
        const state = await inDatabase<Record<string, number>>(
          `({ plants: db.plants.countDocuments(), pending: db.plants.countDocuments({ pending: true }),
              indexed: db.plant_search.countDocuments(),
              audited: db.audit_blocks.aggregate([{ $unwind: '$entries' },
                { $match: { 'entries.action': { $in: ['created', null] } } }, { $count: 'n' }]).toArray()[0]?.n,
              events: db.audit_blocks.distinct('entries.event').length })`,
        );
        expect(state).toEqual({
          plants: state['plants'],
          pending: 0,
          indexed: state['plants'],
          audited: state['plants'],
          events: state['plants'],
        });
        return true;
      },
      { withinMs: 90_000, what: 'every plant is indexed and audited once' },
    );
    expect((await inspect(id)).State.Running).toBe(true);
  });

  async function expectAllStored(outcomes: readonly Outcome[]): Promise<void> {
    const ids = outcomes.filter(({ status }) => status === 200).map(({ id }) => `Long('${id}')`);
    let stored = 0;
    for (let start = 0; start < ids.length; start += IDS_ASKED_AT_ONCE) {
      const some = ids.slice(start, start + IDS_ASKED_AT_ONCE);
      stored += await inDatabase<number>(`db.plants.countDocuments({ _id: { $in: [${some}] } })`);
    }
    expect(stored).toBe(ids.length);
  }

  test('every container is confined: no root, no privilege, a read-only file system, bounds on all it may use', async () => {
    const containers = await containersOf(project.name);
    expect(new Set(containers.map(({ service }) => service))).toEqual(new Set(SERVICES));
    for (const { id, service } of containers) {
      const { Config, HostConfig } = await inspect(id);
      expect(Config.User, service).toMatch(/^(node|[1-9]\d*:[1-9]\d*)$/);
      expect(HostConfig, service).toMatchObject({ ReadonlyRootfs: true, Privileged: false, Init: true });
      expect(HostConfig.RestartPolicy?.Name, service).toBe(
        service === 'setup' ? 'on-failure' : 'unless-stopped',
      );
      expect(HostConfig.CapAdd ?? [], service).toEqual([]);
      expect(HostConfig.CapDrop?.length, service).toBeGreaterThan(0);
      expect(HostConfig.SecurityOpt?.join(), service).toContain('no-new-privileges');
      expect(HostConfig.Memory, service).toBeGreaterThan(0);
      expect(HostConfig.PidsLimit, service).toBeGreaterThan(0);
    }
  });

  test('each service has an account in MongoDB that can neither change nor delete an audit block', async () => {
    for (const account of ['plantstore-api', 'plantstore-worker', 'plantstore-ops', 'plantstore-commands']) {
      // Not "return db…": mongosh would not wait for it inside of "try".
      const attempt = (change: string) =>
        `(() => { try { const done = db.audit_blocks.${change}; return done } catch (e) { return e.codeName } })()`;
      for (const change of ['updateMany({}, { $set: { a: 1 } })', 'deleteMany({})', 'drop()'])
        expect(await inDatabase(attempt(change), account)).toBe('Unauthorized');
    }
  });

  test('mongod keeps no history of what was updated', async () => {
    const parameter = 'minSnapshotHistoryWindowInSeconds';
    const answer = await inDatabase<Record<string, number>>(
      `db.adminCommand({ getParameter: 1, ${parameter}: 1 })`,
    );
    expect(answer[parameter]).toBe(0);
  });

  test('nothing is published but the gateway, and the console on this machine alone', async () => {
    const published = new Map<string, string[]>();
    for (const { id, service } of await containersOf(project.name)) {
      // A port that is exposed but not published may be there with nothing.
      const ports: Record<string, ({ HostIp: string } | null)[] | null> =
        (await inspect(id)).HostConfig.PortBindings ?? {};
      const bindings = Object.values(ports)
        .flat()
        .filter((binding) => binding !== null);
      if (bindings.length > 0)
        published.set(
          service,
          bindings.map(({ HostIp }) => HostIp),
        );
    }
    expect(published).toEqual(
      new Map([
        ['gateway', ['127.0.0.1']],
        ['ops', ['127.0.0.1']],
      ]),
    );
    expect((await fetch(project.opsUrl, { redirect: 'manual' })).status).not.toBe(200);
  });

  test('services hold no password but their own, and logs hold none at all', async () => {
    const secret = (name: string) => project.environment[name] as string;
    const holders: Record<string, readonly string[]> = {
      AUTH_SECRET: ['api'],
      MONGODB_ADMIN_PASSWORD: ['mongo-1', 'setup'],
      MONGODB_API_PASSWORD: ['api', 'setup'],
      MONGODB_WORKER_PASSWORD: ['worker', 'setup'],
      MONGODB_OPS_PASSWORD: ['ops', 'setup'],
      MONGODB_COMMANDS_PASSWORD: ['setup'],
      AUDIT_ANCHOR_KEY: ['worker'],
      REDIS_PASSWORD: ['api', 'worker', 'ops', 'redis'],
    };
    for (const { id, service } of await containersOf(project.name)) {
      const environment = (await inspect(id)).Config.Env.join('\n');
      const logs = await logsOf(id);
      for (const [name, services] of Object.entries(holders)) {
        expect(environment.includes(secret(name)), `${service} ${name}`).toBe(services.includes(service));
        expect(logs.includes(secret(name)), service).toBe(false);
      }
      expect(logs.includes(accessToken), service).toBe(false);
    }
  });

  test('a rolling restart fails no create', { timeout: 180_000 }, async () => {
    await using load = await warmLoad();
    for (const { id } of await project.containers('api')) {
      await execute(id, ['sh', '-c', 'kill -TERM $(pidof node)']);
      await waitFor(async () => !(await isReady(id)), { withinMs: 10_000, what: 'it is not ready' });
      await waitFor(() => isReady(id), { withinMs: 60_000, what: 'it is ready again' });
    }
    const outcomes = await load.stop();
    expect(outcomes.filter(({ status }) => status !== 200)).toEqual([]);
    await expectAllStored(outcomes);
  });

  async function isReady(id: string): Promise<boolean> {
    const output = await execute(id, ['sh', '-c', 'node deploy/docker/ready.ts && echo ready']).catch(
      () => '',
    );
    return output.includes('ready\n') && !output.includes('not ready');
  }

  test('with three members, creates go on after the primary has crashed', { timeout: 240_000 }, async () => {
    await project.compose('--profile', 'three-members', 'up', '-d');
    const members = () =>
      inDatabase<{ state: string }[]>(`rs.status().members.map((m) => ({ state: m.stateStr }))`);
    await waitFor(async () => (await members()).filter(({ state }) => state === 'SECONDARY').length === 2, {
      withinMs: 120_000,
      what: 'two members follow the primary',
    });
    await serves();
    await crash('mongo-1', 'mongod');
    const crashed = performance.now();
    await serves();
    expect(performance.now() - crashed).toBeLessThan(60_000);
  });

  test('what the engine keeps running is no process of this run of the tests', async () => {
    const processes = await processesOf(tmpdir());
    expect(
      processes.filter(({ command }) => /podman|aardvark|conmon|dockerd|containerd/.test(command)),
    ).toEqual([]);
  });

  test('taken down, it leaves no container, network or volume', { timeout: DOWN_MS_MAX }, async () => {
    await project.down();
    expect(await containersOf(project.name)).toEqual([]);
    expect(await leftOf(project.name)).toEqual([]);
  });
});

function upstreams(accessLog: string): Set<string> {
  return new Set(
    [...accessLog.matchAll(/"upstream":"([\d.]+:\d+)"/g)].map(([, address]) => address as string),
  );
}
