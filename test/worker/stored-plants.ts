import { type Collection, ObjectId } from 'mongodb';
import type { PlantDocument } from '../../packages/contracts/src/plant-document.ts';

let next = BigInt(Date.now()) * 1_000_000n;

/** A pending plant as the API stores it, with an id that no other test of this file has used. */
export function pendingPlant(commit: ObjectId, fields: Partial<PlantDocument> = {}): PlantDocument {
  next += 1n;
  return {
    _id: next,
    name: `Rosa ${next}`,
    tag: 'Fleur',
    created: new Date(),
    commit,
    pending: true,
    by: { sub: 'client-1', jti: 'token-1' },
    from: { address: '192.0.2.7', request: `request-${next}`, requestBy: 'gateway', instance: 'api-1' },
    ...fields,
  };
}

export type StoredCommit = { commit: string; plants: PlantDocument[] };

/** Stores one commit of so many pending plants, as the API's group commit does. */
export async function storeCommit(
  plants: Collection<PlantDocument>,
  count: number,
  fields: Partial<PlantDocument> = {},
): Promise<StoredCommit> {
  const commit = new ObjectId();
  const documents = Array.from({ length: count }, () => pendingPlant(commit, fields));
  await plants.insertMany(documents, { ordered: false, writeConcern: { w: 'majority' } });
  return { commit: commit.toHexString(), plants: documents };
}
