/** The worker of the rival "plain": per job one upserted index entry and one inserted audit record, 50 at a time. */
import { Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { Long, MongoClient } from 'mongodb';
import { CONCURRENCY, durable, environment, type PlantCreated, QUEUE, searchFields } from '../environment.ts';

const mongo = await new MongoClient(environment.mongodbUrl).connect();
const search = mongo.db().collection<{ _id: Long }>('plant_search', { writeConcern: durable });
const audit = mongo.db().collection('audit_records', { writeConcern: durable });
await search.createIndex({ words: 1 });
await search.createIndex({ folded: 1 });
await search.createIndex({ tag: 1, created: 1 });

new Worker<PlantCreated>(
  QUEUE,
  async ({ data }) => {
    const _id = Long.fromNumber(data.id);
    const { name, tag } = data;
    const entry = { name, tag, ...searchFields(data), created: new Date() };
    await search.updateOne({ _id }, { $set: entry }, { upsert: true });
    await audit.insertOne({ what: 'created', plant: _id, at: new Date() });
  },
  {
    connection: new Redis(environment.redisUrl, { maxRetriesPerRequest: null }),
    prefix: environment.queuePrefix,
    concurrency: CONCURRENCY,
  },
);
