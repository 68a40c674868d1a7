import {
  type Link,
  type Span as OpenTelemetrySpan,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import { ExportResultCode, parseTraceParent } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { within } from '../concurrency/within.ts';
import type { Logger } from '../process/logger.ts';
import { outageLog } from '../process/outage-log.ts';
import { VERSION } from '../process/version.ts';
import type { Tracing } from './tracing.ts';

/** A collector that does not answer loses spans, and delays nothing. */
const EXPORT_MS_MAX = 2_000;
const EXPORT_INTERVAL_MS = 1_000;
const CLOSE_MS_MAX = 2_500;
/**
 * A commit links the requests of all its plants, 500 at most. A batch of more jobs (WORKER_CONCURRENCY above this) links
 * the first ones; every job links its batch.
 */
const LINKS_MAX = 512;
/** Spans that wait to be sent; further ones are dropped. */
const WAITING_MAX = 8_192;

const kinds = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
  internal: SpanKind.INTERNAL,
} as const;

/** Tracing by OpenTelemetry's own SDK. Context is handed on by the code, so nothing of the SDK is global. */
export function openTelemetry(
  options: { endpoint: string; ratio: number; service: string; instance: string },
  logger: Logger,
): Tracing {
  const exporter = new OTLPTraceExporter({
    url: `${options.endpoint.replace(/\/$/, '')}/v1/traces`,
    timeoutMillis: EXPORT_MS_MAX,
  });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      'service.name': `plant-store-${options.service}`,
      'service.instance.id': options.instance,
      'service.version': VERSION,
    }),
    // What a client says of its own trace counts, whether it is to be recorded too.
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(options.ratio) }),
    spanLimits: { linkCountLimit: LINKS_MAX },
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: logged(exporter, logger),
        exportTimeoutMillis: EXPORT_MS_MAX,
        scheduledDelayMillis: EXPORT_INTERVAL_MS,
        maxQueueSize: WAITING_MAX,
      }),
    ],
  });
  const tracer = provider.getTracer('plant-store', VERSION);
  /** Steps that have not ended, by their trace context, for links that become known later. */
  const open = new Map<string, OpenTelemetrySpan>();

  return {
    start(name, { kind, parent, links = [], attributes = {} }) {
      const remote = parent === undefined ? null : parseTraceParent(parent);
      const context =
        remote === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, { ...remote, isRemote: true });
      const span = tracer.startSpan(
        name,
        { kind: kinds[kind], attributes, links: links.flatMap(linkTo) },
        context,
      );
      const traceparent = traceparentOf(span);
      open.set(traceparent, span);
      return {
        traceparent,
        set: (more) => void span.setAttributes(more),
        end(error) {
          open.delete(traceparent);
          if (error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: failureOf(error) });
          span.end();
        },
      };
    },
    link(from, to) {
      for (const link of linkTo(to)) open.get(from)?.addLink(link);
    },
    [Symbol.asyncDispose]: () =>
      within(
        CLOSE_MS_MAX,
        provider.shutdown().catch(() => {}),
        undefined,
      ),
  };
}

/** Messages of drivers name ids and addresses, which no span may hold: of an error only its name is sent. */
function failureOf(error: unknown): string {
  if (typeof error === 'string') return error;
  return error instanceof Error ? error.name : 'failed';
}

function linkTo(traceparent: string): Link[] {
  const context = parseTraceParent(traceparent);
  return context === null ? [] : [{ context }];
}

function traceparentOf(span: OpenTelemetrySpan): string {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return `00-${traceId}-${spanId}-${(traceFlags & TraceFlags.SAMPLED) === 0 ? '00' : '01'}`;
}

/** One pair of log lines for each outage of the collector. */
function logged(exporter: SpanExporter, logger: Logger): SpanExporter {
  const outage = outageLog(logger, {
    began: 'spans cannot be sent to the OTLP endpoint: they are lost until it answers',
    ended: 'spans are sent again',
  });
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        if (result.code === ExportResultCode.SUCCESS) outage.works();
        else outage.fails(result.error);
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
    ...(exporter.forceFlush !== undefined && {
      forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
    }),
  };
}
