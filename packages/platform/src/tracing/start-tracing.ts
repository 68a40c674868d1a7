import type { Logger } from '../process/logger.ts';
import type { Tracing } from './tracing.ts';

export type TracingConfig = {
  /** Where spans are sent by OTLP over HTTP; undefined: nowhere. */
  endpoint: string | undefined;
  /** Share of the requests that are traced, from 0 to 1, of those that come without a trace context. */
  ratio: number;
};

/** Undefined when no endpoint is set: then OpenTelemetry's SDK is not even loaded. */
export async function startTracing(
  { endpoint, ratio }: TracingConfig,
  process: { service: string; instance: string },
  logger: Logger,
): Promise<Tracing | undefined> {
  if (endpoint === undefined) return undefined;
  const { openTelemetry } = await import('./open-telemetry.ts');
  return openTelemetry({ endpoint, ratio, ...process }, logger);
}
