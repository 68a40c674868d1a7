import { expect, test } from 'vitest';
import { healthyStatus } from '../status/healthy-status.ts';
import { startMonitor } from './monitor.ts';

test('an observer that fails is logged, and the observation is answered all the same', async () => {
  const failure = new Error('a distribution without bounds');
  const logged: object[] = [];
  using monitor = startMonitor(
    async () => healthyStatus,
    () => {
      throw failure;
    },
    { error: (fields: object) => void logged.push(fields) },
  );
  expect((await monitor.current()).status).toBe(healthyStatus);
  expect(logged).toEqual([{ err: failure }]);
});
