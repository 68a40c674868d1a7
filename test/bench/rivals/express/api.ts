/** The rival "express": Express 5, jsonwebtoken, zod and mongoose; each create saves a document and awaits a job. */
import { Queue } from 'bullmq';
import express, { type ErrorRequestHandler, type RequestHandler } from 'express';
import { Redis } from 'ioredis';
import jwt from 'jsonwebtoken';
import mongoose from 'mongoose';
import { z } from 'zod';
import { environment, type PlantCreated, QUEUE } from '../environment.ts';
import { schemas } from '../models.ts';

await mongoose.connect(environment.mongodbUrl);
const Plant = mongoose.model('Plant', schemas.plants);
const queue = new Queue<PlantCreated>(QUEUE, {
  connection: new Redis(environment.redisUrl, { maxRetriesPerRequest: null }),
  prefix: environment.queuePrefix,
  defaultJobOptions: { removeOnComplete: true, attempts: 3 },
});

const NewPlant = z.object({ id: z.int(), name: z.string(), tag: z.string().optional() });

const authenticated: RequestHandler = (request, response, next) => {
  const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
  try {
    jwt.verify(token ?? '', environment.authSecret, { algorithms: ['HS256'] });
    next();
  } catch {
    response.status(401).json({ message: 'Unauthorized' });
  }
};
const failed: ErrorRequestHandler = (error, _request, response, _next) => {
  response.status(error instanceof z.ZodError ? 400 : 500).json({ message: String(error.message) });
};

const app = express();
app.disable('x-powered-by');
app.disable('etag');
app.post('/plants', authenticated, express.json(), async (request, response) => {
  const { id, name, tag } = NewPlant.parse(request.body);
  await Plant.create({ _id: id, name, ...(tag !== undefined && { tag }) });
  await queue.add('plant.created', { id, name, tag });
  response.json({ name, tag });
});
app.use(failed);
app.listen(environment.port, '127.0.0.1');
