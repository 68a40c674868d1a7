import { hostname } from 'node:os';
import { str } from 'envalid';
import { wholeNumber } from './configuration.ts';
import { LOG_LEVELS } from './logger.ts';

/** The variables that every service process reads. */
export const commonSettings = {
  MONGODB_URL: str(),
  REDIS_URL: str(),
  QUEUE_PREFIX: str({ default: '{plantstore}' }),
  INSTANCE: str({ default: hostname() }),
  LOG_LEVEL: str({ choices: LOG_LEVELS, default: 'info' }),
  INTERNAL_HOST: str({ default: '127.0.0.1' }),
  INTERNAL_PORT: wholeNumber(0, 65_535)({ default: 0 }),
};
