import type { ApiReport } from '@plant-store/contracts/process-report';
import type { SystemStatus } from '../status/status.ts';
import { type Intervals, mean, observed, perSecond, quantile } from './intervals.ts';

/** One moment of the system: what was read, and what its processes reported since the reading before. */
export type Measured = Intervals & { status: SystemStatus };

type Unit = '/s' | 'ms' | 's' | 'plants' | 'jobs' | 'processes';

export type Series = {
  /** Unique among all series. */
  id: string;
  label: string;
  unit: Unit;
  /** The names of the colours are those of the style sheet. */
  colour: 'green' | 'blue' | 'amber' | 'red' | 'grey';
  /** Undefined where nothing was measured, or a server did not answer: the line has a gap there. */
  read: (measured: Measured) => number | undefined;
};

/** Series of at most two units; the second unit has its axis at the right. */
export type Plot = { id: string; title: string; series: Series[] };

const seconds = (ms: number | undefined) => (ms === undefined ? undefined : ms / 1_000);
const ms = (s: number | undefined) => (s === undefined ? undefined : s * 1_000);

/** Statuses of answers that have a line of their own; all others are drawn as one. */
const NAMED = /^(?:200|400|401|403|5\d\d)$/;

function answers(status: RegExp | ((status: string) => boolean)): Series['read'] {
  const counts = typeof status === 'function' ? status : (text: string) => status.test(text);
  const count = ({ answers }: ApiReport) =>
    Object.entries(answers).reduce((sum, [text, value]) => (counts(text) ? sum + value : sum), 0);
  return ({ api }) => perSecond(api, count);
}

const latency =
  (share: number): Series['read'] =>
  ({ api }) =>
    ms(
      quantile(
        observed(api, (report) => report.latency),
        share,
      ),
    );

const lag =
  (which: 'indexLag' | 'auditLag', share: number): Series['read'] =>
  ({ workers }) =>
    ms(
      quantile(
        observed(workers, (report) => report[which]),
        share,
      ),
    );

/** What the console draws, in this order. A test compares the list with docs/operations.md. */
export const PLOTS: readonly Plot[] = [
  {
    id: 'creates',
    title: 'Creates by answer',
    series: [
      { id: 'stored', label: '200 stored', unit: '/s', colour: 'green', read: answers(/^200$/) },
      { id: 'refused', label: '400 refused', unit: '/s', colour: 'blue', read: answers(/^400$/) },
      { id: 'denied', label: '401, 403', unit: '/s', colour: 'amber', read: answers(/^40[13]$/) },
      { id: 'unavailable', label: '5xx', unit: '/s', colour: 'red', read: answers(/^5/) },
      {
        id: 'others',
        label: 'others',
        unit: '/s',
        colour: 'grey',
        read: answers((text) => !NAMED.test(text)),
      },
    ],
  },
  {
    id: 'latency',
    title: 'Latency of answers',
    series: [
      { id: 'latency-p50', label: 'p50', unit: 'ms', colour: 'green', read: latency(0.5) },
      { id: 'latency-p99', label: 'p99', unit: 'ms', colour: 'amber', read: latency(0.99) },
    ],
  },
  {
    id: 'commits',
    title: 'Commit size',
    series: [
      {
        id: 'commit-mean',
        label: 'mean',
        unit: 'plants',
        colour: 'green',
        read: ({ api }) => mean(observed(api, (report) => report.commitPlants)),
      },
      {
        id: 'commit-p99',
        label: 'p99',
        unit: 'plants',
        colour: 'amber',
        read: ({ api }) =>
          quantile(
            observed(api, (report) => report.commitPlants),
            0.99,
          ),
      },
    ],
  },
  {
    id: 'pending',
    title: 'Pending plants',
    series: [
      {
        id: 'pending',
        label: 'pending',
        unit: 'plants',
        colour: 'blue',
        read: ({ status }) => status.database?.backlog.plants,
      },
      {
        id: 'pending-age',
        label: 'oldest',
        unit: 's',
        colour: 'amber',
        read: ({ status }) => seconds(status.database?.backlog.oldestMs),
      },
    ],
  },
  {
    id: 'queue',
    title: 'Queue',
    series: [
      {
        id: 'waiting',
        label: 'waiting',
        unit: 'jobs',
        colour: 'blue',
        read: ({ status }) => status.queue?.waiting,
      },
      {
        id: 'active',
        label: 'active',
        unit: 'jobs',
        colour: 'green',
        read: ({ status }) => status.queue?.active,
      },
      {
        id: 'waiting-age',
        label: 'oldest waiting',
        unit: 's',
        colour: 'amber',
        read: ({ status }) => seconds(status.queue?.oldestWaitingMs),
      },
    ],
  },
  {
    id: 'lag',
    title: 'Index and audit lag',
    series: [
      { id: 'index-p50', label: 'index p50', unit: 'ms', colour: 'green', read: lag('indexLag', 0.5) },
      { id: 'index-p99', label: 'index p99', unit: 'ms', colour: 'amber', read: lag('indexLag', 0.99) },
      { id: 'audit-p99', label: 'audit p99', unit: 'ms', colour: 'blue', read: lag('auditLag', 0.99) },
    ],
  },
  {
    id: 'failures',
    title: 'Failures',
    series: [
      { id: 'answers-5xx', label: '5xx answers', unit: '/s', colour: 'red', read: answers(/^5/) },
      {
        id: 'jobs-failing',
        label: 'failing jobs',
        unit: '/s',
        colour: 'amber',
        read: ({ workers }) => perSecond(workers, ({ jobsFailed }) => jobsFailed),
      },
      {
        id: 'jobs-failed',
        label: 'failed jobs',
        unit: 'jobs',
        colour: 'grey',
        read: ({ status }) => status.queue?.failed,
      },
    ],
  },
  {
    id: 'processes',
    title: 'Workers and replicas',
    series: [
      {
        id: 'workers',
        label: 'workers',
        unit: 'processes',
        colour: 'green',
        read: ({ status }) =>
          status.queue?.workers.filter(({ state }) => state === 'working' || state === 'idle').length,
      },
      {
        id: 'replicas',
        label: 'API replicas',
        unit: 'processes',
        colour: 'blue',
        read: ({ status, api }) => (status.queue === undefined ? undefined : api.length),
      },
    ],
  },
];

/** All series, in the order of a sample's values. */
export const SERIES: readonly Series[] = PLOTS.flatMap(({ series }) => series);
