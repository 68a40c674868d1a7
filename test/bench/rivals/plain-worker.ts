/** The worker of the rival "plain": per job one upserted index entry and one inserted audit record, 50 at a time. */
import { Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { Long, MongoClient } from 'mongodb';

const { MONGODB_URL = '', REDIS_URL = '', QUEUE_PREFIX = '' } = process.env;
const CONCURRENCY = 50;

const mongo = await new MongoClient(MONGODB_URL).connect();
const database = mongo.db(undefined, {});
const options = { writeConcern: { w: 'majority' as const, journal: true } };
const search = database.collection<{ _id: Long }>('plant_search', options);
const audit = database.collection('audit_records', options);
await search.createIndex({ words: 1 });
await search.createIndex({ folded: 1 });
await search.createIndex({ tag: 1, created: 1 });

new Worker<{ id: number; name: string; tag?: string }>(
  'plant-creations',
  async ({ data: { id, name, tag } }) => {
    const _id = Long.fromNumber(id);
    const folded = name.toLowerCase();
    const words = `${name} ${tag ?? ''}`.toLowerCase().split(/\s+/).filter(Boolean);
    await search.updateOne(
      { _id },
      { $set: { name, tag, folded, words, created: new Date() } },
      { upsert: true },
    );
    await audit.insertOne({ what: 'created', plant: _id, at: new Date() });
  },
  {
    connection: new Redis(REDIS_URL, { maxRetriesPerRequest: null }),
    prefix: QUEUE_PREFIX,
    concurrency: CONCURRENCY,
  },
);
