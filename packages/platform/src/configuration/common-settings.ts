import { hostname } from 'node:os';
import { str } from 'envalid';
import { LOG_LEVELS } from '../process/logger.ts';
import { boundedText, wholeNumber } from './configuration.ts';

/** The instance name is stored in every plant and every log line. Host names are not longer than this. */
const INSTANCE_CHARACTERS_MAX = 64;

/** The variables that every service process reads. */
export const commonSettings = {
  MONGODB_URL: str(),
  REDIS_URL: str(),
  QUEUE_PREFIX: str({ default: '{plantstore}' }),
  INSTANCE: boundedText(INSTANCE_CHARACTERS_MAX)({ default: hostname() }),
  LOG_LEVEL: str({ choices: LOG_LEVELS, default: 'info' }),
  INTERNAL_HOST: str({ default: '127.0.0.1' }),
  INTERNAL_PORT: wholeNumber(0, 65_535)({ default: 0 }),
};
