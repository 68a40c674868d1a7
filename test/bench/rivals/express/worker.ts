/** The worker of the rival "express": per job one upserted index entry and one audit record, through mongoose. */
import { Worker } from 'bullmq';
import { Redis } from 'ioredis';
import mongoose from 'mongoose';
import { CONCURRENCY, environment, type PlantCreated, QUEUE, searchFields } from '../environment.ts';
import { schemas } from '../models.ts';

await mongoose.connect(environment.mongodbUrl);
const Search = mongoose.model('PlantSearch', schemas.search);
const Audit = mongoose.model('AuditRecord', schemas.audit);

new Worker<PlantCreated>(
  QUEUE,
  async ({ data }) => {
    const { id, name, tag } = data;
    await Search.updateOne({ _id: id }, { name, tag, ...searchFields(data) }, { upsert: true });
    await Audit.create({ what: 'created', plant: id });
  },
  {
    connection: new Redis(environment.redisUrl, { maxRetriesPerRequest: null }),
    prefix: environment.queuePrefix,
    concurrency: CONCURRENCY,
  },
);
