import type { Binary, ObjectId } from 'mongodb';

export const PLANTS = 'plants';
export const PLANT_SEARCH = 'plant_search';
export const AUDIT_BLOCKS = 'audit_blocks';
export const AUDIT_ANCHORS = 'audit_anchors';
/** The search index that a reindex builds; the swap renames it to `plant_search`. */
export const PLANT_SEARCH_NEXT = 'plant_search_next';
/** What commands store of their progress. */
export const OPS_STATE = 'ops_state';

/** A plant as stored: the record everything else is derived from. Ids are int64, hence `bigint`. */
export type PlantDocument = {
  _id: bigint;
  name: string;
  tag?: string;
  created: Date;
  /** Shared by the plants that one insert stored, kept for ever. */
  commit: ObjectId;
  /**
   * The pending flag, which is the outbox: `true` until the plant is indexed and audited. A quarantined plant is not in
   * the index of pending plants, so neither workers nor the relay see it. Once it is `true` again, the plant is
   * processed as any other.
   */
  pending?: true | 'quarantined';
  /** Why an operator quarantined the plant; present only while it is quarantined. */
  quarantine?: Quarantine;
  by: Creator;
  from: Origin;
  /** Hash of the Idempotency-Key the plant was created with. */
  key?: Binary;
};

export type Quarantine = { reason: string; by: string; since: Date };

/** Who created it: claims of the access token, never the token. */
export type Creator = { sub: string; iss?: string; jti?: string };

/** From where: client address through the trusted hop, request id, and the API instance that stored it. */
export type Origin = {
  address: string;
  request: string;
  /** Who chose `request`: a client may copy another request's id on purpose. Absent before version 1.1. */
  requestBy?: 'gateway' | 'client' | 'api';
  instance: string;
};
