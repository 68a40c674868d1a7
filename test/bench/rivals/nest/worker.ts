/** The worker of the rival "nest": per job one upserted index entry and one audit record. */
import 'reflect-metadata';
import { Processor, WorkerHost } from '@nestjs/bullmq';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { InjectModel, MongooseModule } from '@nestjs/mongoose';
import type { Job } from 'bullmq';
import { CONCURRENCY, type PlantCreated, QUEUE, searchFields } from '../environment.ts';
import { type Models, schemas } from '../models.ts';
import { infrastructure } from './infrastructure.ts';

@Processor(QUEUE, { concurrency: CONCURRENCY })
class PlantCreations extends WorkerHost {
  @InjectModel('PlantSearch') private readonly search!: Models['search'];
  @InjectModel('AuditRecord') private readonly audit!: Models['audit'];

  async process({ data }: Job<PlantCreated>): Promise<void> {
    const { id, name, tag } = data;
    const entry = { name, ...(tag !== undefined && { tag }), ...searchFields(data) };
    await this.search.updateOne({ _id: id }, entry, { upsert: true });
    await this.audit.create({ what: 'created', plant: id });
  }
}

@Module({
  imports: [
    ...infrastructure,
    MongooseModule.forFeature([
      { name: 'PlantSearch', schema: schemas.search },
      { name: 'AuditRecord', schema: schemas.audit },
    ]),
  ],
  providers: [PlantCreations],
})
class WorkerModule {}

await NestFactory.createApplicationContext(WorkerModule, { logger: ['error', 'warn'] });
