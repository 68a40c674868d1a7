export type Attributes = Readonly<Record<string, string | number>>;

/** A step of the work on a request. */
export type Span = {
  /** Its W3C trace context: all that another step, or another process, needs to continue or link it. */
  readonly traceparent: string;
  set: (attributes: Attributes) => void;
  /** @param error why the step failed, if it did: a fixed phrase, or an error, of which only the name is sent */
  end: (error?: unknown) => void;
};

export type SpanStart = {
  kind: 'server' | 'client' | 'producer' | 'consumer' | 'internal';
  /** The step that this one belongs to; without one a trace begins. */
  parent: string | undefined;
  /** Other steps whose work this one does as well. */
  links?: readonly string[];
  attributes?: Attributes;
};

/**
 * The parent of a step that serves several: the first that is recorded, else the first. A parent that is not recorded
 * would leave the step out of every trace.
 */
export function parentAmong(traceparents: readonly string[]): {
  parent: string | undefined;
  others: readonly string[];
} {
  const index = Math.max(0, traceparents.findIndex(isRecorded));
  return { parent: traceparents[index], others: traceparents.toSpliced(index, 1) };
}

/** The flag `sampled` of a W3C trace context: the lowest bit of the last field of version 00. */
function isRecorded(traceparent: string): boolean {
  return (Number.parseInt(traceparent.slice(53, 55), 16) & 1) === 1;
}

export type Tracing = AsyncDisposable & {
  start: (name: string, start: SpanStart) => Span;
  /** Links a step that has not ended to another one. */
  link: (from: string, to: string) => void;
};
