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

test('a lost connection to Redis is said where it is lost, any other reason here', () => {
  const { events, words } = eventsUnderTest();
  events.publishing.leftToRelay(1, new Error('redis is unreachable'));
  expect(words()).toEqual([]);
  events.publishing.leftToRelay(1, 'redis is slow');
  expect(words()).toEqual(['creation jobs cannot be published: the relay publishes them later']);
});

test('of creates that are refused early, five a second have a line with their request id', () => {
  const { events, lines } = eventsUnderTest();
  for (let refused = 0; refused < 7; refused++) events.refusedForLoad(`request-${refused}`);
  expect(lines).toHaveLength(5);
  expect(lines[0]).toMatchObject({ msg: 'request failed', request: 'request-0', status: 503, error: 5001 });
});
