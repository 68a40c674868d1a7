import { type Model, Schema } from 'mongoose';
import { durable } from './environment.ts';

type Stored = { _id: number; name: string; tag?: string };
type Searched = Stored & { folded: string; words: string[] };
type Audited = { what: 'created'; plant: number };

export type Models = { plants: Model<Stored>; search: Model<Searched>; audit: Model<Audited> };

const options = { versionKey: false, writeConcern: { w: durable.w, j: durable.journal } } as const;
const created = { timestamps: { createdAt: 'created', updatedAt: false } } as const;
const plant = { _id: Number, name: { type: String, required: true }, tag: String } as const;

/** The collections of the rivals that use mongoose. */
export const schemas = {
  plants: new Schema<Stored>(plant, { ...options, ...created, collection: 'plants' }),
  search: new Schema<Searched>(
    { ...plant, folded: { type: String, index: true }, words: { type: [String], index: true } },
    { ...options, ...created, collection: 'plant_search' },
  ).index({ tag: 1, created: 1 }),
  audit: new Schema<Audited>(
    { what: { type: String, required: true }, plant: { type: Number, required: true } },
    { ...options, timestamps: { createdAt: 'at', updatedAt: false }, collection: 'audit_records' },
  ),
};
