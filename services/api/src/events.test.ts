import { Registry } from 'prom-client';
import { expect, test, vi } from 'vitest';
import { capturedLog } from '../../../test/harness/captured-log.ts';
import { apiEvents, type Insert } from './events.ts';

function eventsUnderTest() {
  const { logger, lines } = capturedLog();
  const database = { fails: vi.fn(), works: vi.fn(), failing: vi.fn(() => false) };
  const creates = { waiting: () => 0, waitingMax: 1 };
  const events = apiEvents({ logger, registry: new Registry(), database, creates });
  return { events, database, words: () => lines.map(({ msg }) => msg), lines };
}

const failed: Insert = {
  commit: 'c',
  plants: 1,
  ms: 1,
  report: { sent: true, occupied: 'unknown', reason: 'why' },
};

test('an insert that the database refuses for what was sent is no outage; any other failure is', () => {
  const { events, database, words } = eventsUnderTest();
  events.inserted({ ...failed, report: { ...failed.report, databaseAway: false } });
  expect(database.fails).not.toHaveBeenCalled();
  events.inserted(failed);
  expect(database.fails).toHaveBeenCalledExactlyOnceWith('why');
  expect(words()).toEqual(['commit was not acknowledged', 'commit was not acknowledged']);
});

test('overload is said, but not while the database does not answer', () => {
  const { events, database, words } = eventsUnderTest();
  database.failing.mockReturnValueOnce(true);
  events.overloaded(true);
  events.overloaded(false);
  expect(words()).toEqual([]);
  events.overloaded(true);
  expect(words()).toHaveLength(1);
});

test('overload that began while the database was away is said once the database answers and creates are still refused', () => {
  const { events, database, words } = eventsUnderTest();
  database.failing.mockReturnValue(true);
  events.overloaded(true);
  events.refusedForLoad('request');
  expect(words()).toEqual(['request failed']);
  database.failing.mockReturnValue(false);
  for (let refused = 0; refused < 2; refused++) events.refusedForLoad('request');
  const began = 'more creates come than can be stored: those beyond a full commit are refused';
  expect(words()).toEqual(['request failed', began, 'request failed', 'request failed']);
  events.overloaded(false);
  expect(words().at(-1)).toBe('no create is refused for load any more');
});

test('stored plants that cannot be read are said, but not while the database does not answer', () => {
  const { events, database, lines, words } = eventsUnderTest();
  database.failing.mockReturnValueOnce(true);
  events.readFailed({ plants: 2, reason: 'why' });
  expect(lines).toEqual([]);
  events.readFailed({ plants: 2, reason: 'why' });
  expect(words()).toEqual(['stored plants cannot be read']);
  expect(lines[0]).toMatchObject({ plants: 2, reason: 'why' });
});

test('a lost connection to Redis is said where it is lost, any other reason here', () => {
  const { events, words } = eventsUnderTest();
  events.publishing.leftToRelay(1, new Error('redis is unreachable'));
  expect(words()).toEqual([]);
  events.publishing.leftToRelay(1, 'redis is slow');
  expect(words()).toEqual(['creation jobs cannot be published: the relay publishes them later']);
});

test('of creates that are refused early, five a second have a line with their request id', () => {
  const { events, lines } = eventsUnderTest();
  events.overloaded(true);
  const first = lines.length;
  for (let refused = 0; refused < 7; refused++) events.refusedForLoad(`request-${refused}`);
  expect(lines.slice(first)).toHaveLength(5);
  expect(lines[first]).toMatchObject({
    msg: 'request failed',
    request: 'request-0',
    status: 503,
    error: 5001,
  });
});
