import { type AuditBlock, entriesRoot, headerHash, headerOf } from '@plant-store/audit/ledger/audit-block';
import { readBlock, storedBlock } from '@plant-store/audit/ledger/stored-block';
import type { Db } from 'mongodb';

/** What somebody with rights to the database could do to its blocks. */
export function tampering(database: Db) {
  const blocks = database.collection('audit_blocks');

  const read = async (chain: number, height: number): Promise<AuditBlock> =>
    readBlock((await blocks.findOne({ chain, height })) as object as never);

  const replace = async (block: AuditBlock): Promise<void> => {
    await blocks.replaceOne({ chain: block.chain, height: block.height }, storedBlock(block));
  };

  /** Writes a chain anew from a block on, every hash as it should be. */
  async function rechain(changed: AuditBlock, upTo: number): Promise<void> {
    let block = { ...changed, root: entriesRoot(changed.entries) };
    for (;;) {
      block = { ...block, hash: headerHash(headerOf(block)) };
      await replace(block);
      if (block.height === upTo) return;
      block = { ...(await read(block.chain, block.height + 1)), previous: block.hash };
    }
  }

  return { read, replace, rechain };
}
