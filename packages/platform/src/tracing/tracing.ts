export type Attributes = Readonly<Record<string, string | number>>;

/** A step of the work on a request. */
export type Span = {
  /** Its W3C trace context: all that another step, or another process, needs to continue or link it. */
  readonly traceparent: string;
  set: (attributes: Attributes) => void;
  /** @param error why the step failed, if it did */
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

export type Tracing = AsyncDisposable & {
  start: (name: string, start: SpanStart) => Span;
  /** Links a step that has not ended to another one. */
  link: (from: string, to: string) => void;
};
