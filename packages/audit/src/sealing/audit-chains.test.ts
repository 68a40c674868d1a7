import { expect, test } from 'vitest';
import { createAuditChains, creationChains } from './audit-chains.ts';

const head = (height: number) => ({ height, hash: `${height}`.padStart(64, '0') });

test('a worker stays on the chain whose head it remembers', () => {
  const chains = createAuditChains(creationChains(4), () => 0.6);
  const first = chains.take();
  expect(first).toMatchObject({ chain: 2, head: undefined });
  first.release(head(1));
  expect(chains.take()).toMatchObject({ chain: 2, head: head(1) });
});

test('after an error nothing is remembered of the chain, and any chain may be taken', () => {
  const chains = createAuditChains(creationChains(4), () => 0);
  const held = chains.take();
  held.release(head(7));
  const again = chains.take();
  expect(again.head).toEqual(head(7));
  again.release(undefined);
  expect(chains.take()).toMatchObject({ chain: 0, head: undefined });
});

test('two holders never have the same chain while there is a free one', () => {
  const chains = createAuditChains(creationChains(3), Math.random);
  const held = [chains.take(), chains.take(), chains.take()];
  expect(new Set(held.map(({ chain }) => chain)).size).toBe(3);
  held[1]?.release(undefined);
  expect(chains.take().chain).toBe(held[1]?.chain);
});

test('with every chain held one is shared, without a remembered head', () => {
  const chains = createAuditChains(creationChains(1), Math.random);
  chains.take().release(head(1));
  expect(chains.take().head).toEqual(head(1));
  expect(chains.take()).toMatchObject({ chain: 0, head: undefined });
});
