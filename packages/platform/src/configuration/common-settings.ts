import { hostname } from 'node:os';
import { EnvError, makeValidator, str } from 'envalid';
import { LOG_LEVELS } from '../process/logger.ts';
import { boundedText, wholeNumber } from './configuration.ts';

/** The instance name is stored in every plant and every log line. Host names are not longer than this. */
const INSTANCE_CHARACTERS_MAX = 64;

const httpUrl = makeValidator<string>((input) => {
  if (!/^https?:\/\//.test(input) || !URL.canParse(input)) throw new EnvError('must be an http or https URL');
  return input;
});

const share = makeValidator<number>((input) => {
  const value = Number(input);
  if (!/^[\d.]+$/.test(input) || !(value >= 0 && value <= 1))
    throw new EnvError('must be a number from 0 to 1');
  return value;
});

/** What traces need, by OpenTelemetry's own names. */
export const tracingSettings = {
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl({ default: undefined }),
  OTEL_TRACES_SAMPLER_ARG: share({ default: 1 }),
};

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
