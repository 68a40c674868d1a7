import { BullModule } from '@nestjs/bullmq';
import { MongooseModule } from '@nestjs/mongoose';
import { environment, QUEUE } from '../environment.ts';

/** Database and queue, for the API and the worker alike. */
export const infrastructure = [
  MongooseModule.forRoot(environment.mongodbUrl),
  BullModule.forRoot({
    connection: { url: environment.redisUrl, maxRetriesPerRequest: null },
    prefix: environment.queuePrefix,
    defaultJobOptions: { removeOnComplete: true, attempts: 3 },
  }),
  BullModule.registerQueue({ name: QUEUE }),
];
