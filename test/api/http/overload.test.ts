import { MongoClient } from 'mongodb';
import { expect, test } from 'vitest';
import { COMMIT_PLANTS_MAX } from '../../../services/api/src/domain/group-commit.ts';
import { runOpenLoad } from '../../faults/overload/open-load.ts';
import { ready } from '../../harness/api/api.ts';
import { token } from '../../harness/api/tokens.ts';
import { mongoProxy } from '../../harness/network/mongo-proxy.ts';
import { startProgram } from '../../harness/processes/program.ts';
import { testEnvironment } from '../../harness/servers/servers.ts';
import { waitFor } from '../../harness/wait-for.ts';

/** A commit takes 0.8 s then, so that four of them at once store at most 2,500 plants a second. */
const DELAY_MS = 400;
const RATE = 4_000;
const SECONDS = 6;
/** Creates whose head has been read, but not yet their body, when the last place is taken. */
const UNDER_WAY_MAX = 500;

const environment = testEnvironment();

test('more creates than the database stores: the rest is refused with 5001 and Retry-After, and no 200 is lost (L4)', async () => {
  await using proxy = await mongoProxy(environment.MONGODB_URL);
  await using api = await startProgram('api', { ...environment, MONGODB_URL: proxy.url, DRAIN_MS: '0' });
  await ready(api.internalUrl);
  await using mongo = new MongoClient(environment.MONGODB_URL, { useBigInt64: true });
  proxy.delay(DELAY_MS);

  const load = runOpenLoad({
    url: api.url,
    token: token(),
    rate: RATE,
    seconds: SECONDS,
    settleSeconds: 0,
    firstId: 1,
  });
  await waitFor(async () => (await api.metric('plants_overloaded')) === 1, {
    withinMs: 20_000,
    what: 'overload is noticed',
  });
  // Those accepted before have been stored or refused by their age.
  const waiting = () => api.metric('plants_creates_waiting');
  await waitFor(async () => (await waiting()) <= COMMIT_PLANTS_MAX + UNDER_WAY_MAX, {
    withinMs: 10_000,
    what: 'no more than one full commit waits',
  });
  const report = await load;

  expect(report.created).toBeGreaterThan(0);
  expect(report.refused).toBeGreaterThan(0);
  expect(report).toMatchObject({ withoutRetryAfter: 0, broken: 0 });
  // On a busy machine an insert may take longer than it is waited for (unknown, and perhaps stored), and a head may take
  // longer to arrive than the API allows.
  const { '503 5002': unknown = 0, '408 1007': late = 0, ...others } = report.others;
  expect(others).toEqual({});
  expect(report.created + report.refused + unknown + late).toBe(RATE * SECONDS);
  const stored = await mongo.db().collection('plants').countDocuments();
  expect(stored).toBeGreaterThanOrEqual(report.created);
  expect(stored).toBeLessThanOrEqual(report.created + unknown);
  const lines = (text: string) => api.log.filter(({ msg }) => msg === text).length;
  const began = lines('more creates come than can be stored: those beyond a full commit are refused');
  const ended = lines('no create is refused for load any more');
  // On a busy machine an insert may fail before overload is noticed: then this line tells why creates wait.
  const away = lines('the database does not answer: creates are answered with 503');
  expect(began - ended).toBeOneOf([0, 1]);
  expect(began + away).toBeGreaterThan(0);

  proxy.delay(0);
  await waitFor(async () => (await api.metric('plants_overloaded')) === 0, {
    withinMs: 10_000,
    what: 'overload is over',
  });
});
