import type { OperatorEntry } from '@plant-store/audit/ledger/audit-entry';
import { expect, onTestFinished, test, vi } from 'vitest';
import { healthyStatus } from '../status/healthy-status.ts';
import { createHistory, type HistorySources } from './history.ts';

const unreadable = () => Promise.reject(new Error('no primary'));
const malformed = () => Promise.resolve([{ event: 'pause' }] as unknown as OperatorEntry[]);

/** A history and the lines it logs. `read` is a reading of the status 6 s after the one before. */
function startHistory(actions: HistorySources['actions']) {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const lines: object[] = [];
  const history = createHistory(
    { actions, version: '1.0.0', startedAt: healthyStatus.at },
    { warn: (fields: object) => lines.push(fields) },
  );
  let at = healthyStatus.at.getTime();
  const read = async () => {
    history.add({ status: { ...healthyStatus, at: new Date(at) }, findings: [], pace: undefined });
    at += 6_000;
    await vi.advanceTimersByTimeAsync(6_000);
  };
  return { history, lines, read };
}

test.each([
  ['cannot be read', unreadable],
  ['are malformed', malformed],
])(
  'actions of operators that %s twice in a row are logged once, and the history goes on',
  async (_what, actions) => {
    const { history, lines, read } = startHistory(actions);
    await read();
    expect(lines).toEqual([]);
    await read();
    await read();
    expect(lines).toEqual([{ reason: expect.any(String) }]);
    expect(history.samplesAfter(0).at).toHaveLength(3);
  },
);

test('a single failure to read the actions of operators is not logged', async () => {
  const actions = vi
    .fn<HistorySources['actions']>()
    .mockImplementationOnce(unreadable)
    .mockResolvedValueOnce([])
    .mockImplementationOnce(unreadable);
  const { lines, read } = startHistory(actions);
  await read();
  await read();
  await read();
  expect(actions).toHaveBeenCalledTimes(3);
  expect(lines).toEqual([]);
});
