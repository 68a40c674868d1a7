/** One stretch of creates from a process of its own. Ids run from `firstId` on, each sent once unless some repeat. */
export type Load = {
  url: string;
  token: string;
  connections: number;
  seconds: number;
  firstId: number;
  /**
   * Creates a second, sent at their intended times whatever the answers do (open loop); without it each connection
   * sends when it has its answer (closed loop).
   */
  rate?: number;
  /** One request in so many repeats an id that was sent before. */
  repeatEvery?: number;
  /** A short name without. */
  nameBytes?: number;
};

export type LoadReport = {
  /** Answers of 200. */
  created: number;
  /** Requests that repeated an id. */
  repeated: number;
  /** Answers of 400 and above. */
  refused: number;
  /** Connections that broke and answers that never came. */
  broken: number;
  /** On the clock of `Date.now()`: the first request, and the last answer. */
  startedMs: number;
  answeredMs: number;
  /** How long requests were sent. */
  seconds: number;
  p50Ms: number;
  p99Ms: number;
  /** CPU of the generator itself. */
  cpuMs: number;
  /** Open loop: the share of the wanted requests that were sent in time. */
  offered?: number;
};
