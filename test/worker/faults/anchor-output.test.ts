import { expect, test } from 'vitest';
import { anchorKey } from '../../audit/ledger-under-test.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { workerUnderTest } from '../worker-under-test.ts';

const system = workerUnderTest();

test('a file to which anchors cannot be written is said once', async () => {
  const worker = await system.start({
    AUDIT_ANCHOR_KEY: anchorKey().pem.privateKey,
    AUDIT_ANCHOR_INTERVAL_MS: '1000',
    AUDIT_ANCHOR_OUTPUT: '/nowhere/anchors.jsonl',
  });
  const said = () => worker.log.filter(({ msg }) => String(msg).startsWith('audit anchors cannot be'));
  await waitFor(() => said().length > 0, { withinMs: 15_000, what: 'the log says so' });
  expect(said()).toMatchObject([{ level: 40, reason: expect.stringContaining('ENOENT') }]);
});
