/** What a row runs on. */
export type Topology = {
  /** A replica set of one, of three, or of one whose data lies on a small disk that can be filled. */
  database: 'single' | 'three members' | 'small disk';
  replicas: number;
  workers: number;
  /** Requests go through nginx instead of straight to the replicas. */
  gateway: boolean;
  /** Redis is down when the processes of the product start. */
  redisDownAtStart: boolean;
  redisArgs: readonly string[];
  /** Added to the environment of the replicas and of the workers. */
  api: Environment;
  worker: Environment;
};

export type Environment = Readonly<Record<string, string>>;

export const defaultTopology: Topology = {
  database: 'single',
  replicas: 2,
  workers: 2,
  gateway: false,
  redisDownAtStart: false,
  redisArgs: [],
  api: {},
  worker: {},
};

/** The relay is quicker than by default, so that a row is short; anchors are as frequent as they can be. */
export const quickWorker: Environment = {
  RELAY_INTERVAL_MS: '300',
  RELAY_AGE_MS: '1500',
  AUDIT_ANCHOR_INTERVAL_MS: '1000',
};
