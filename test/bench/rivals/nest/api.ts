/** The rival "nest": NestJS on its Fastify adapter, with its own modules for MongoDB, queue and tokens. */
import 'reflect-metadata';
import { InjectQueue } from '@nestjs/bullmq';
import {
  Body,
  type CanActivate,
  Controller,
  type ExecutionContext,
  HttpCode,
  Inject,
  Injectable,
  Module,
  Post,
  UnauthorizedException,
  UseGuards,
  ValidationPipe,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { JwtModule, JwtService } from '@nestjs/jwt';
import { InjectModel, MongooseModule } from '@nestjs/mongoose';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Queue } from 'bullmq';
import { IsInt, IsOptional, IsString } from 'class-validator';
import type { FastifyRequest } from 'fastify';
import { environment, type PlantCreated, QUEUE } from '../environment.ts';
import { type Models, schemas } from '../models.ts';
import { infrastructure } from './infrastructure.ts';

class NewPlant {
  @IsInt() id!: number;
  @IsString() name!: string;
  @IsOptional() @IsString() tag?: string;
}

@Injectable()
class AccessTokenGuard implements CanActivate {
  @Inject(JwtService) private readonly tokens!: JwtService;

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const { authorization = '' } = context.switchToHttp().getRequest<FastifyRequest>().headers;
    try {
      await this.tokens.verifyAsync(authorization.replace(/^Bearer /, ''));
      return true;
    } catch {
      throw new UnauthorizedException();
    }
  }
}

@Injectable()
class PlantsService {
  @InjectModel('Plant') private readonly plants!: Models['plants'];
  @InjectQueue(QUEUE) private readonly queue!: Queue<PlantCreated>;

  async create({ id, name, tag }: NewPlant): Promise<{ name: string; tag?: string | undefined }> {
    await this.plants.create({ _id: id, name, ...(tag !== undefined && { tag }) });
    await this.queue.add('plant.created', { id, name, tag });
    return { name, tag };
  }
}

@Controller('plants')
@UseGuards(AccessTokenGuard)
class PlantsController {
  @Inject(PlantsService) private readonly plants!: PlantsService;

  @Post()
  @HttpCode(200)
  create(@Body(new ValidationPipe({ expectedType: NewPlant })) plant: NewPlant) {
    return this.plants.create(plant);
  }
}

@Module({
  imports: [
    ...infrastructure,
    MongooseModule.forFeature([{ name: 'Plant', schema: schemas.plants }]),
    JwtModule.register({ secret: environment.authSecret }),
  ],
  controllers: [PlantsController],
  providers: [PlantsService],
})
class ApiModule {}

const app = await NestFactory.create<NestFastifyApplication>(ApiModule, new FastifyAdapter(), {
  logger: ['error', 'warn'],
});
await app.listen(environment.port, '127.0.0.1');
