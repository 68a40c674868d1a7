import { mongoLedger } from '@plant-store/audit/mongo/mongo-ledger';
import { makeProof, type Proof } from '@plant-store/audit/proof/proof';
import { PLANTS, type PlantDocument } from '@plant-store/contracts/plant-document';
import type { Db } from 'mongodb';

export type ProofAnswer =
  | { outcome: 'proof'; proof: Proof }
  /** There is no such plant, or it is in no block yet. */
  | { outcome: 'no plant' }
  | { outcome: 'not audited' }
  /** No anchor names its block or a later one of the chain yet. */
  | { outcome: 'not anchored' };

/** The proof that a plant was audited with its present content before the next anchor was made. */
export async function provePlant(database: Db, id: bigint): Promise<ProofAnswer> {
  const ledger = mongoLedger(database);
  const plant = await database.collection<PlantDocument>(PLANTS).findOne({ _id: id });
  if (plant === null) return { outcome: 'no plant' };
  const block = await ledger.blockOf(id);
  if (block === undefined) return { outcome: 'not audited' };
  const anchor = await ledger.anchorAfter(block.chain, block.height);
  const head = anchor?.heads.find(({ chain }) => chain === block.chain);
  if (anchor === undefined || head === undefined) return { outcome: 'not anchored' };
  const following = await ledger.headers(block.chain, block.height, head.height);
  const index = block.entries.findIndex(({ event }) => event === id);
  return {
    outcome: 'proof',
    proof: makeProof({ id, name: plant.name, tag: plant.tag }, block, index, following, anchor),
  };
}
