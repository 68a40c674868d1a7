import type { OperatorEntry } from '@plant-store/audit/ledger/audit-entry';
import { expect, test } from 'vitest';
import { healthyStatus } from '../status/healthy-status.ts';
import { createHistory } from './history.ts';

const observation = { status: healthyStatus, findings: [], pace: undefined };

test.each([
  ['cannot be read', () => Promise.reject(new Error('no primary'))],
  ['are none', () => Promise.resolve([{ event: 'pause' }] as unknown as OperatorEntry[])],
])('actions of operators that %s are logged, and the history goes on', async (_what, actions) => {
  const logged = Promise.withResolvers<object>();
  const history = createHistory(
    { actions, version: '1.0.0', startedAt: healthyStatus.at },
    { warn: (fields: object) => logged.resolve(fields) },
  );
  history.add(observation);
  expect(await logged.promise).toEqual({ reason: expect.any(String) });
  history.add({ ...observation, status: { ...healthyStatus, at: new Date(healthyStatus.at.getTime() + 1) } });
  expect(history.samplesAfter(0).at).toHaveLength(2);
});
