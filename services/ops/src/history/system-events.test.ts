import type { OperatorEntry } from '@plant-store/audit/ledger/audit-entry';
import type { ProcessReport } from '@plant-store/contracts/process-report';
import type { Seen } from '@plant-store/platform/redis/heartbeats';
import { ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import type { LastingFinding } from '../findings/diagnose.ts';
import { healthyQueue, healthyStatus } from '../status/healthy-status.ts';
import { createSystemEvents } from './system-events.ts';
import { createTimeline, KEPT_MS, type TimelineEvent } from './timeline.ts';

const START = healthyStatus.at.getTime();

function system() {
  const timeline = createTimeline();
  const events = createSystemEvents(timeline);
  return {
    timeline,
    acted: events.acted,
    /** A reading so many milliseconds after the first. */
    reading: (ms: number, reports: Seen<ProcessReport>[] | undefined, findings: LastingFinding[] = []) =>
      events.observe({
        status: {
          ...healthyStatus,
          at: new Date(START + ms),
          queue: reports && { ...healthyQueue, reports },
        },
        findings,
        pace: undefined,
      }),
    texts: () => timeline.events().map(({ kind, text }) => `${kind}: ${text}`),
  };
}

const empty = { bounds: [], counts: [0], sum: 0 };
const replica = (more: Partial<Seen<ProcessReport>> = {}) =>
  ({
    service: 'api',
    name: 'api-1',
    version: '1.0.0',
    process: 'p1',
    upMs: 2_000,
    ageMs: 0,
    ended: false,
    answers: {},
    latency: empty,
    commitPlants: empty,
    ...more,
  }) as Seen<ProcessReport>;

const finding = (id: string, more: Partial<LastingFinding> = {}): LastingFinding => ({
  id,
  key: id,
  level: 'bad',
  headline: `${id} is wrong`,
  cause: '',
  affected: '',
  action: '',
  since: new Date(START - 3_000),
  ...more,
});

test('a start is an event once, at the time of the start', () => {
  const { reading, timeline, texts } = system();
  reading(0, [replica()]);
  reading(2_000, [replica({ upMs: 4_000 })]);
  expect(texts()).toEqual(['restart: api-1 started, version 1.0.0']);
  expect(timeline.events()[0]?.at).toBe(START - 2_000);
});

test('a process that started before the hour is none', () => {
  const { reading, texts } = system();
  reading(0, [replica({ upMs: KEPT_MS + 1 })]);
  expect(texts()).toEqual([]);
});

test('an orderly end is an event, and a start in another version is a deploy', () => {
  const { reading, texts } = system();
  reading(0, [replica({ upMs: 2 * KEPT_MS })]);
  reading(2_000, [replica({ upMs: 2 * KEPT_MS, ended: true })]);
  reading(6_000, [
    replica({ upMs: 2 * KEPT_MS, ended: true, ageMs: 4_000 }),
    replica({ process: 'p2', version: '1.1.0' }),
  ]);
  expect(texts()).toEqual([
    'deploy: api-1 started with version 1.1.0; it was 1.0.0',
    'restart: api-1 shut down',
  ]);
});

test('what is wrong lasts from its beginning to its end', () => {
  const { reading, timeline } = system();
  const redis = finding('redis-unreachable');
  reading(0, undefined, [redis]);
  reading(2_000, undefined, [{ ...redis, headline: 'said in other words' }]);
  const begun = { kind: 'outage', level: 'bad', text: 'redis-unreachable is wrong', at: START - 3_000 };
  expect(timeline.events()).toMatchObject([{ ...begun, until: null }]);
  reading(9_000, []);
  expect(timeline.events()).toMatchObject([{ ...begun, until: START + 9_000 }]);
  reading(11_000, [], [redis]);
  expect(timeline.events()).toHaveLength(2);
});

test.each([
  ['mongodb-unreachable', 'outage'],
  ['no-worker', 'outage'],
  ['queue-paused', 'pause'],
  ['disk-nearly-full', 'finding'],
])('the finding %s is drawn as %s', (id, kind) => {
  const { reading, timeline } = system();
  reading(0, [], [finding(id)]);
  expect(timeline.events()).toMatchObject([{ kind }]);
});

test('a replica that no longer reports is said to, until another takes its name', () => {
  const { reading, timeline } = system();
  reading(0, [replica({ upMs: 2 * KEPT_MS })]);
  reading(12_000, [replica({ upMs: 2 * KEPT_MS, ageMs: 12_000 })]);
  expect(timeline.events()).toMatchObject([{ text: 'api-1 no longer reports', at: START, until: null }]);
  reading(14_000, [replica({ upMs: 2 * KEPT_MS, ageMs: 14_000 }), replica({ process: 'p2' })]);
  expect(timeline.events()).toMatchObject([
    { text: 'api-1 started, version 1.0.0' },
    { text: 'api-1 no longer reports', until: START + 14_000 },
  ]);
});

test('while Redis is away, no process is called silent, and none starts again afterwards', () => {
  const { reading, texts } = system();
  reading(0, [replica()]);
  reading(20_000, undefined);
  reading(40_000, [replica({ upMs: 42_000 })]);
  expect(texts()).toEqual(['restart: api-1 started, version 1.0.0']);
});

test('an action of an operator is an event once, and says who, what, why and whether it was refused', () => {
  const { acted, texts } = system();
  const action = (more: Partial<OperatorEntry>): OperatorEntry => ({
    event: new ObjectId(),
    action: 'paused',
    outcome: 'done',
    target: 'plant-creations',
    who: { sub: 'olga' },
    when: new Date(),
    from: { address: '192.0.2.1', request: 'r', instance: 'i' },
    ...more,
  });
  const paused = action({ reason: 'a leak' });
  acted([paused]);
  acted([action({ action: 'retry', outcome: 'refused', when: new Date(Date.now() + 1) }), paused]);
  acted([action({ when: new Date(Date.now() - KEPT_MS - 1) })]);
  expect(texts()).toEqual([
    'action: olga: retry (refused) plant-creations',
    'action: olga: paused plant-creations: a leak',
  ]);
});

test('what is over is kept for an hour, what goes on for as long as it does, and never more than 200', () => {
  const { reading, timeline } = system();
  reading(0, [replica()], [finding('disk-nearly-full')]);
  reading(KEPT_MS, [], [finding('disk-nearly-full')]);
  expect(timeline.events()).toMatchObject([{ kind: 'finding', until: null }]);
  const moment = (at: number): TimelineEvent => ({
    id: String(at),
    kind: 'restart',
    level: 'busy',
    text: '',
    at,
  });
  for (let at = 0; at < 300; at++) timeline.add(moment(START + at));
  expect(timeline.events()).toHaveLength(200);
  expect(timeline.events()[0]?.at).toBe(START + 299);
});
