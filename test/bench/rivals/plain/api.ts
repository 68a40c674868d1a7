/**
 * The rival "plain": what a competent team writes first. Fastify with its usual JWT and schema validation; each create
 * is one insertOne with the same write concern as ours, then one awaited BullMQ job.
 */
import fastifyJwt from '@fastify/jwt';
import { Queue } from 'bullmq';
import Fastify from 'fastify';
import { Redis } from 'ioredis';
import { Long, MongoClient } from 'mongodb';
import { durable, environment, type PlantCreated, QUEUE } from '../environment.ts';

const mongo = await new MongoClient(environment.mongodbUrl).connect();
const plants = mongo
  .db()
  .collection<{ _id: Long; name: string; tag?: string; created: Date }>('plants', { writeConcern: durable });
const queue = new Queue<PlantCreated>(QUEUE, {
  connection: new Redis(environment.redisUrl, { maxRetriesPerRequest: null }),
  prefix: environment.queuePrefix,
  defaultJobOptions: { removeOnComplete: true, attempts: 3 },
});

const app = Fastify();
await app.register(fastifyJwt, { secret: environment.authSecret, verify: { cache: true } });
app.addHook('onRequest', (request) => request.jwtVerify());
app.post<{ Body: { id: number; name: string; tag?: string } }>(
  '/plants',
  {
    schema: {
      body: {
        type: 'object',
        required: ['id', 'name'],
        properties: { id: { type: 'integer' }, name: { type: 'string' }, tag: { type: 'string' } },
      },
      response: {
        200: { type: 'object', properties: { name: { type: 'string' }, tag: { type: 'string' } } },
      },
    },
  },
  async ({ body: { id, name, tag } }) => {
    const plant = { name, ...(tag !== undefined && { tag }) };
    await plants.insertOne({ _id: Long.fromNumber(id), ...plant, created: new Date() });
    await queue.add('plant.created', { id, ...plant });
    return plant;
  },
);
await app.listen({ host: '127.0.0.1', port: environment.port });
