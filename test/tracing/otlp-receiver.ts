import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import protobuf from 'protobufjs';

/** A span as it was received, its ids in hexadecimal. */
export type ReceivedSpan = {
  service: string;
  name: string;
  trace: string;
  id: string;
  parent: string | undefined;
  /** `trace-span` of each. */
  links: string[];
  attributes: Record<string, string | number>;
  failed: boolean;
  /** Why it failed; empty where it did not. */
  reason: string;
};

export type OtlpReceiver = AsyncDisposable & { endpoint: string; spans: () => readonly ReceivedSpan[] };

type KeyValue = { key: string; value: { stringValue?: string; intValue?: number; doubleValue?: number } };
type Decoded = {
  resourceSpans?: {
    resource: { attributes: KeyValue[] };
    scopeSpans: {
      spans: {
        traceId: Buffer;
        spanId: Buffer;
        parentSpanId?: Buffer;
        name: string;
        attributes?: KeyValue[];
        links?: { traceId: Buffer; spanId: Buffer }[];
        status?: { code?: number; message?: string };
      }[];
    }[];
  }[];
};

const proto = protobuf.loadSync(join(import.meta.dirname, 'otlp-trace.proto'));
const Request = proto.lookupType('otlp.ExportTraceServiceRequest');
const STATUS_ERROR = 2;

/** Takes spans as a collector does: OTLP over HTTP, protobuf, at /v1/traces. Anything else is refused. */
export async function otlpReceiver(): Promise<OtlpReceiver> {
  const received: ReceivedSpan[] = [];
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    const { method, url, headers } = request;
    if (method !== 'POST' || url !== '/v1/traces' || headers['content-type'] !== 'application/x-protobuf') {
      response.writeHead(415).end();
      return;
    }
    received.push(...read(headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body));
    response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: () => received,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function read(body: Buffer): ReceivedSpan[] {
  const { resourceSpans = [] } = Request.toObject(Request.decode(body), { longs: Number }) as Decoded;
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(attributesOf(resource.attributes)['service.name']);
    return scopeSpans.flatMap(({ spans }) =>
      spans.map(({ traceId, spanId, parentSpanId, name, attributes = [], links = [], status }) => ({
        service,
        name,
        trace: hex(traceId),
        id: hex(spanId),
        parent: parentSpanId === undefined || parentSpanId.length === 0 ? undefined : hex(parentSpanId),
        links: links.map((link) => `${hex(link.traceId)}-${hex(link.spanId)}`),
        attributes: attributesOf(attributes),
        failed: status?.code === STATUS_ERROR,
        reason: status?.message ?? '',
      })),
    );
  });
}

function attributesOf(list: readonly KeyValue[]): Record<string, string | number> {
  return Object.fromEntries(
    list.map(({ key, value }) => [key, value.stringValue ?? value.intValue ?? value.doubleValue ?? '']),
  );
}

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
