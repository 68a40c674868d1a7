import { afterAll, beforeAll, expect, test } from 'vitest';
import { ready } from '../harness/api/api.ts';
import { freshId, postPlant } from '../harness/api/post-plant.ts';
import { TEST_SECRET } from '../harness/api/tokens.ts';
import { opsUsers } from '../harness/ops-users.ts';
import { type LogLine, type Program, startProgram } from '../harness/processes/program.ts';
import { type PrivateServer, privateMongod, privateRedis } from '../harness/servers/private-servers.ts';
import { needsServers } from '../harness/servers/servers.ts';
import { waitFor } from '../harness/wait-for.ts';

needsServers();
const WARN = 40;
const NOTICED_MS_MAX = 15_000;
const services = ['api', 'worker', 'ops'] as const;
type Service = (typeof services)[number];

/** One pair for each outage and process, and nothing else. */
const pairs: Record<'mongodb' | 'redis', Record<Service, readonly [began: string, ended: string]>> = {
  mongodb: {
    api: ['the database does not answer: creates are answered with 503', 'the database answers again'],
    worker: ['the database does not answer: jobs wait for it', 'the database answers again'],
    ops: ['MongoDB does not answer', 'MongoDB answers again'],
  },
  redis: {
    api: ['redis is unreachable: creations are published later', 'redis is back'],
    worker: ['redis is unreachable: creations are published later', 'redis is back'],
    ops: ['Redis does not answer', 'Redis answers again'],
  },
};

/** Lines for single requests, commits and settings, and for a machine that is busy. */
const SINGLE =
  /^(?:request failed|request was slow|more creates come|commit was not acknowledged|commits stayed pending|AUDIT_ANCHOR_KEY is not set)/;

let mongod: PrivateServer;
let redis: PrivateServer;
const programs = {} as Record<Service, Program>;

/** They start while both servers are down. */
beforeAll(async () => {
  [mongod, redis] = await Promise.all([privateMongod(), privateRedis()]);
  await Promise.all([mongod.stop(), redis.stop()]);
  const environment = {
    MONGODB_URL: mongod.url,
    REDIS_URL: redis.url,
    AUTH_SECRET: TEST_SECRET,
    OPS_USERS: await opsUsers({ name: 'vera', role: 'viewer', password: 'looking-glass-house' }),
    OPS_PORT: '0',
    DRAIN_MS: '0',
    RELAY_INTERVAL_MS: '200',
    RELAY_AGE_MS: '1000',
  };
  await Promise.all(
    services.map(async (service) => {
      programs[service] = await startProgram(service, environment);
    }),
  );
});
afterAll(async () => {
  for (const program of Object.values(programs)) await program.stop();
  await mongod?.close();
  await redis?.close();
});

const create = (id = freshId()) => postPlant(programs.api.url, { id, name: 'fern' });
const up = (service: Service, server: 'mongodb' | 'redis') => programs[service].metric(`plants_${server}_up`);

/** Every process sees the server, or does not. */
async function untilSeen(server: 'mongodb' | 'redis', expected: 0 | 1): Promise<void> {
  for (const service of services) {
    await waitFor(async () => (await up(service, server)) === expected, {
      withinMs: NOTICED_MS_MAX,
      what: `plants_${server}_up of ${service} is ${expected}`,
    });
  }
}

/** Complaints among these lines, and what ended them. */
function outagesIn(lines: readonly LogLine[]): string[] {
  const ends = new Set(Object.values(pairs).flatMap((each) => Object.values(each).map(([, ended]) => ended)));
  return lines
    .filter(({ level, msg }) => (Number(level) >= WARN && !SINGLE.test(msg)) || ends.has(msg))
    .map(({ msg }) => msg);
}

/** Waits for the last line of the pair, then compares all that was logged since. */
async function expectOnePair(server: 'mongodb' | 'redis', before: Record<Service, number>): Promise<void> {
  for (const service of services) {
    const lines = () => outagesIn(programs[service].log.slice(before[service]));
    const [began, ended] = pairs[server][service];
    await waitFor(() => lines().includes(ended), { withinMs: NOTICED_MS_MAX, what: `${service}: ${ended}` });
    expect(lines(), service).toEqual([began, ended]);
  }
}

const logged = () =>
  Object.fromEntries(services.map((service) => [service, programs[service].log.length])) as Record<
    Service,
    number
  >;

test('a cold start without any server: what was missed is said, and that it is there', async () => {
  await untilSeen('mongodb', 0);
  await untilSeen('redis', 0);
  await mongod.start();
  await redis.start();
  await ready(programs.api.internalUrl);
  await untilSeen('mongodb', 1);
  await untilSeen('redis', 1);
  for (const service of services) {
    const expected = [...pairs.mongodb[service], ...pairs.redis[service]].sort();
    await waitFor(() => outagesIn(programs[service].log).length >= expected.length, {
      withinMs: NOTICED_MS_MAX,
      what: `${service} has said all`,
    });
    expect(outagesIn(programs[service].log).sort(), service).toEqual(expected);
  }
});

test('MongoDB away: one pair of lines a process, no stale figure, and each commit that was sent in vain by its id', async () => {
  const batches = () => programs.worker.metric('plants_batch_duration_seconds_count');
  const earlier = await batches();
  expect((await create()).status).toBe(200);
  // A block under way at the outage would have lines of its own.
  await waitFor(async () => (await batches()) > earlier, {
    withinMs: NOTICED_MS_MAX,
    what: 'the plant is processed',
  });
  const before = logged();
  await mongod.kill();
  let refused = 0;
  while (refused < 200) {
    const answers = await Promise.all(Array.from({ length: 20 }, () => create()));
    refused += answers.filter(({ status }) => status === 503).length;
  }
  const failures = () => programs.api.log.slice(before.api).filter(({ msg }) => msg === 'request failed');
  const leftOut = () => failures().reduce((sum, line) => sum + Number(line['leftOut'] ?? 0), 0);
  // A line of a later second says how many were left out.
  await waitFor(
    async () => {
      if ((await create()).status === 503) refused++;
      return leftOut() > 0;
    },
    { withinMs: NOTICED_MS_MAX, what: 'failures that have no line are counted' },
  );
  await untilSeen('mongodb', 0);
  for (const sample of ['plants_pending', 'plants_stored', 'plants_audit_anchor_age_seconds'])
    expect(await samplesOf('ops', sample), sample).toEqual([]);
  await waitFor(async () => (await samplesOf('worker', 'plants_relay_pending')).length === 0, {
    withinMs: NOTICED_MS_MAX,
    what: 'the relay has no figure',
  });
  expect(await samplesOf('ops', 'plants_queue_paused')).toHaveLength(1);

  await mongod.start();
  await untilSeen('mongodb', 1);
  await expectOnePair('mongodb', before);

  const lines = programs.api.log.slice(before.api);
  const commits = lines.filter(({ msg }) => msg === 'commit was not acknowledged');
  expect(commits.length).toBeGreaterThan(0);
  for (const { commit } of commits) expect(commit).toMatch(/^[0-9a-f]{24}$/);
  expect(failures().length).toBeLessThan(refused / 2);
  for (const { path } of failures()) expect(path).toBe('/plants');
});

test('Redis away: one pair of lines a process, no stale figure, and creates succeed', async () => {
  const before = logged();
  await redis.kill();
  for (let sent = 0; sent < 20; sent++) expect((await create()).status).toBe(200);
  await untilSeen('redis', 0);
  for (const sample of ['plants_queue_jobs', 'plants_queue_paused', 'plants_queue_oldest_waiting_seconds'])
    expect(await samplesOf('ops', sample), sample).toEqual([]);
  expect(await samplesOf('ops', 'plants_stored')).toHaveLength(1);

  await redis.start();
  await untilSeen('redis', 1);
  await expectOnePair('redis', before);
});

test('Redis hangs: API and worker see that it does not answer, though their connections stay open', async () => {
  redis.signal('SIGSTOP');
  try {
    for (const service of ['api', 'worker'] as const)
      await waitFor(async () => (await up(service, 'redis')) === 0, {
        withinMs: NOTICED_MS_MAX,
        what: service,
      });
  } finally {
    redis.signal('SIGCONT');
  }
  await untilSeen('redis', 1);
});

async function samplesOf(service: Service, name: string): Promise<string[]> {
  const text = await (await fetch(`${programs[service].internalUrl}/metrics`)).text();
  return text.split('\n').filter((line) => line.startsWith(`${name}{`));
}
