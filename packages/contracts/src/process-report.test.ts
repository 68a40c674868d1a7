import { expect, test } from 'vitest';
import { readProcessReport } from './process-report.ts';

const lag = { bounds: [1, 5], counts: [0, 3, 1], sum: 12.5 };
const api = {
  service: 'api',
  name: 'api-1',
  version: '1.0.0',
  upMs: 2_000,
  answers: { 200: 5, 400: 1 },
  latency: lag,
  commitPlants: lag,
};
const worker = {
  service: 'worker',
  name: 'worker-1',
  version: '1.0.0',
  upMs: 2_000,
  jobsInHand: 0,
  batches: 0,
  jobsFailed: 0,
  indexLag: lag,
  auditLag: lag,
};

test.each([
  ['an API replica', api],
  ['a worker before its first batch', worker],
  ['a worker', { ...worker, batches: 2, sinceBatchMs: 0.5 }],
])('the report of %s is read as it was written', (_what, report) => {
  expect(readProcessReport(JSON.parse(JSON.stringify(report)))).toEqual(report);
  expect(readProcessReport({ ...report, later: 'a field of another version' })).toEqual(report);
});

test.each([
  ['null', null],
  ['a text', 'worker'],
  ['a list', [worker]],
  ['of another service', { ...worker, service: 'gardener' }],
  ['without a name', { ...worker, name: undefined }],
  ['without a version', { ...api, version: 1 }],
  ['whose time is no number', { ...api, upMs: '2000' }],
  ['without answers', { ...api, answers: undefined }],
  ['whose answers are no numbers', { ...api, answers: { 200: 'many' } }],
  ['without a distribution', { ...api, latency: undefined }],
  ['whose distribution has a count too few', { ...api, latency: { ...lag, counts: [1, 2] } }],
  ['whose distribution has no bounds', { ...worker, indexLag: { ...lag, bounds: null } }],
  ['whose distribution counts below nothing', { ...worker, auditLag: { ...lag, counts: [0, -1, 0] } }],
  ['whose progress is no number', { ...worker, sinceBatchMs: null }],
  ['whose jobs are no number', { ...worker, jobsInHand: null }],
])('what is no report is not read: %s', (_what, value) => {
  expect(readProcessReport(value)).toBeUndefined();
});
