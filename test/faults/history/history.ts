/**
 * How one attempt ended. `refused`: for certain, with an answer that says that nothing was stored, or because nobody took
 * the connection. `unknown`: 5002, a cut connection, no answer.
 */
type AttemptOutcome = 'ok' | 'refused' | 'unknown';

/** One request. Times are milliseconds since the history began. */
export type Attempt = {
  invokedMs: number;
  endedMs: number;
  outcome: AttemptOutcome;
  /** Status and number of the answer, or the error of the connection. */
  answer: string;
  /** Number of the error catalogue. */
  error?: number;
  replayed?: true;
  /** Which replica, or the gateway. */
  target: string;
  /** The client closed the connection on purpose, right after sending. */
  hungUp?: true;
};

/**
 * What an operation is:
 * - `create`: a plant under a new id;
 * - `other content`, `other key`, `other subject`: a deliberate duplicate, which differs from the operation that it
 *   names in that alone;
 * - `invalid`: no plant, such as one whose id is a string or whose name is a number.
 */
type OperationKind = 'create' | 'other content' | 'other key' | 'other subject' | 'invalid';

/** One operation of a client: the plant, its key and who sends it. Its retries are attempts of the same operation. */
export type Operation = {
  number: number;
  kind: OperationKind;
  id: bigint;
  /** As the JSON document spells it. */
  spelling: string;
  name: string;
  tag?: string;
  key: string;
  subject: string;
  /** The whole body, of what is no plant. */
  body?: string;
  /** The operation whose id this one wants as well. */
  rival?: number;
  attempts: Attempt[];
};

export type History = {
  operations: readonly Operation[];
  /** Milliseconds since the beginning. */
  now: () => number;
  add: (operation: Omit<Operation, 'number' | 'attempts'>) => Operation;
  /** All operations that want this id. */
  of: (id: bigint) => readonly Operation[];
};

export function createHistory(): History {
  const began = performance.now();
  const operations: Operation[] = [];
  const byId = new Map<bigint, Operation[]>();
  return {
    operations,
    now: () => performance.now() - began,
    add: (fields) => {
      const operation = { ...fields, number: operations.length, attempts: [] };
      operations.push(operation);
      byId.set(operation.id, [...(byId.get(operation.id) ?? []), operation]);
      return operation;
    },
    of: (id) => byId.get(id) ?? [],
  };
}

/** The creates whose ids nobody else wants: of those, none has a reason to be refused. */
export function uncontested({ operations, of }: History): Operation[] {
  return operations.filter(({ kind, id }) => kind === 'create' && of(id).length === 1);
}

export const isOk = ({ attempts }: Operation) => attempts.some(({ outcome }) => outcome === 'ok');

/** Whether every attempt was refused for certain. */
export const isRefused = ({ attempts }: Operation) =>
  attempts.length > 0 && attempts.every(({ outcome }) => outcome === 'refused');

/**
 * Whether a client would still send it again: some attempt ended unknown, and no later one was answered with a verdict
 * (200 or 400).
 */
export function isOpen({ attempts }: Operation): boolean {
  const isVerdict = ({ outcome, answer }: Attempt) => outcome === 'ok' || answer.startsWith('400');
  return attempts.some(({ outcome }) => outcome === 'unknown') && !attempts.some(isVerdict);
}
