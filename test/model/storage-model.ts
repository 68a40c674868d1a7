import type { Model, Step } from './explore.ts';

/**
 * Storing one plant (docs/invariants.md, S1–S3 and S5): clients, API replicas and MongoDB, for one contended id.
 *
 * - Clients 0 and 1 send different plants under the same id, each with an Idempotency-Key. After an answer that is no
 *   verdict (5002, a crash, a connection that was hung up) a client sends again, to any replica, also while an earlier
 *   request is still under way: an operation has up to `requestsMax` requests at once.
 * - MongoDB holds one document under the id. What no majority has may be rolled back by a failover. A deposed primary
 *   still answers from what it had. Inserts in flight land whenever they like, or never.
 * - A replica that knows the id reads before it inserts (`createPlant`).
 * - A request inserts (`commitPlants`), and after anything but an acknowledgement by a majority reads by majority and
 *   resolves the outcome: its own document is 200, another one 1002, none is sent once more while sends are left.
 */
export type StorageProtocol = {
  requestsMax: number;
  /** Sends of one request. */
  sendsMax: number;
  insertsInFlightMax: number;
  /** What the 200 waits for. */
  writeConcern: 'majority' | 'w:1';
  resolvingRead: 'majority' | 'local';
  onDuplicateKey: 'read' | 'refuse';
  onAbsent: 'send again' | 'answer 5001';
  onWriteConcernError: 'read' | 'taken for stored';
  /** What makes a document one's own. */
  ownedBy: 'operation' | 'commit' | 'send';
  /** Whether mongod answers a duplicate key only once what it met has a majority. Not relied upon. */
  duplicateKeyWaits: boolean;
};

const storageProtocol: StorageProtocol = {
  requestsMax: 2,
  sendsMax: 2,
  insertsInFlightMax: 2,
  writeConcern: 'majority',
  resolvingRead: 'majority',
  onDuplicateKey: 'read',
  onAbsent: 'send again',
  onWriteConcernError: 'read',
  ownedBy: 'operation',
  duplicateKeyWaits: false,
};

type Operation = 0 | 1;
type Verdict = '200' | '1002' | '5001';
/** What is stored under the id: by whom, with which sign of ownership, and whether a majority has it. */
type Stored = { by: Operation; sign: string; majority: boolean } | undefined;
type Request = { at: 'insert' | 'await majority' | 'read'; sends: number };

export type StorageState = {
  stored: Stored;
  /** What a deposed primary that still answers has; `undefined` without one. */
  deposed: { stored: Stored } | undefined;
  inFlight: { by: Operation; sign: string }[];
  requests: [Request[], Request[]];
  /** Verdicts that were given to each client, or to nobody any more. */
  verdicts: [Verdict[], Verdict[]];
};

export function storageModel(deviation: Partial<StorageProtocol> = {}): Model<StorageState> {
  const protocol = { ...storageProtocol, ...deviation };
  return {
    initial: { stored: undefined, deposed: undefined, inFlight: [], requests: [[], []], verdicts: [[], []] },
    keyOf: storageKey,
    steps: (state) => [...databaseSteps(state), ...clientSteps(state, protocol)],
    broken,
    done: ({ inFlight, requests, verdicts: [first, second] }) =>
      inFlight.length === 0 &&
      requests.flat().length === 0 &&
      first.length === 1 &&
      second.length === 1 &&
      first[0] !== second[0] &&
      [first[0], second[0]].every((verdict) => verdict === '200' || verdict === '1002'),
  };
}

const storedKey = (stored: Stored) =>
  stored ? `${stored.by}${stored.sign}${stored.majority ? '+' : ''}` : '-';
const requestKey = ({ at, sends }: Request) => `${at[0]}${sends}`;

function storageKey({ stored, deposed, inFlight, requests, verdicts }: StorageState): string {
  return [
    storedKey(stored),
    deposed === undefined ? '' : storedKey(deposed.stored),
    inFlight.map(({ by, sign }) => `${by}${sign}`),
    requests.map((own) => own.map(requestKey)).join('/'),
    verdicts.join('/'),
  ].join('|');
}

const sorted = <T>(items: T[], keyOf: (item: T) => string): T[] =>
  items.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
const without = <T>(items: readonly T[], index: number): T[] => items.filter((_, at) => at !== index);

/** Of equal items the first: which of them takes a step makes no difference. */
function* distinct<T>(items: readonly T[], keyOf: (item: T) => string): Iterable<[T, number]> {
  const seen = new Set<string>();
  for (const [index, item] of items.entries()) {
    if (seen.has(keyOf(item))) continue;
    seen.add(keyOf(item));
    yield [item, index];
  }
}

function* databaseSteps(state: StorageState): Iterable<Step<StorageState>> {
  const { stored, deposed, inFlight } = state;
  if (stored !== undefined && !stored.majority) {
    yield {
      label: 'a majority has it',
      fault: false,
      next: { ...state, stored: { ...stored, majority: true } },
    };
    yield {
      label: 'failover, rolled back',
      fault: true,
      next: { ...state, stored: undefined, deposed: { stored } },
    };
  }
  if (deposed === undefined || storedKey(deposed.stored) !== storedKey(stored)) {
    yield { label: 'failover', fault: true, next: { ...state, deposed: { stored } } };
  }
  if (deposed !== undefined) {
    yield { label: 'the old primary steps down', fault: false, next: { ...state, deposed: undefined } };
  }
  for (const [insert, index] of distinct(inFlight, ({ by, sign }) => `${by}${sign}`)) {
    const rest = without(inFlight, index);
    const landed = stored ?? { ...insert, majority: false };
    yield {
      label: `a late insert of ${insert.by} lands`,
      fault: false,
      next: { ...state, inFlight: rest, stored: landed },
    };
    yield { label: `an insert of ${insert.by} is lost`, fault: true, next: { ...state, inFlight: rest } };
  }
}

function* clientSteps(state: StorageState, protocol: StorageProtocol): Iterable<Step<StorageState>> {
  const { stored, inFlight, requests, verdicts } = state;
  for (const operation of [0, 1] as const) {
    const own = requests[operation];
    if (verdicts[operation].length === 0 && own.length < protocol.requestsMax) {
      const next = withRequests(state, operation, [...own, { at: 'insert', sends: 0 }]);
      // Beside one that is under way: the client has hung up.
      yield { label: `client ${operation} sends`, fault: own.length > 0, next };
    }
    for (const [request, index] of distinct(own, requestKey)) {
      const over = withRequests(state, operation, without(own, index));
      const goesOn = (at: Request['at'], sends: number) =>
        withRequests(state, operation, [...without(own, index), { at, sends }]);
      const answered = (verdict: Verdict) => withVerdict(over, operation, verdict);
      const { sends } = request;

      yield { label: `the API of ${operation} crashes`, fault: true, next: over };
      if (request.at === 'insert') {
        if (sends === 0) {
          yield { label: `${operation} reads first`, fault: false, next: goesOn('read', 0) };
        }
        const sign = signOf(protocol, operation, sends);
        if (inFlight.length < protocol.insertsInFlightMax) {
          const sent = sorted(
            [...inFlight, { by: operation, sign }],
            (insert) => `${insert.by}${insert.sign}`,
          );
          yield {
            label: `${operation} inserts, no reply`,
            fault: true,
            next: { ...goesOn('read', sends + 1), inFlight: sent },
          };
        }
        if (stored === undefined) {
          const written = { by: operation, sign, majority: false };
          yield protocol.writeConcern === 'majority'
            ? {
                label: `${operation} inserts`,
                fault: false,
                next: { ...goesOn('await majority', sends + 1), stored: written },
              }
            : {
                label: `${operation} inserts, 200`,
                fault: false,
                next: { ...answered('200'), stored: written },
              };
        }
        for (const [where, found] of views(state, 'local')) {
          if (found === undefined || (protocol.duplicateKeyWaits && !found.majority)) continue;
          yield protocol.onDuplicateKey === 'read'
            ? {
                label: `${operation} meets a duplicate key (${where})`,
                fault: false,
                next: goesOn('read', sends + 1),
              }
            : {
                label: `${operation} meets a duplicate key (${where}), 1002`,
                fault: false,
                next: answered('1002'),
              };
        }
      } else if (request.at === 'await majority') {
        const isOwn = stored?.by === operation && stored.sign === signOf(protocol, operation, sends - 1);
        if (isOwn && stored.majority) {
          yield { label: `${operation} is acknowledged, 200`, fault: false, next: answered('200') };
        }
        if (protocol.onWriteConcernError === 'taken for stored') {
          yield {
            label: `${operation} meets a write concern error, 200`,
            fault: true,
            next: answered('200'),
          };
        }
        yield { label: `${operation} meets an error`, fault: isOwn, next: goesOn('read', sends) };
      } else {
        yield { label: `${operation} runs out of time, 5002`, fault: false, next: over };
        for (const [where, found] of views(state, protocol.resolvingRead)) {
          if (found === undefined) {
            if (protocol.onAbsent === 'answer 5001') {
              yield { label: `${operation} finds nothing, 5001`, fault: false, next: answered('5001') };
            } else if (sends < protocol.sendsMax) {
              yield {
                label: `${operation} finds nothing (${where}), sends again`,
                fault: false,
                next: goesOn('insert', sends),
              };
            }
          } else if (found.sign === signOf(protocol, operation, sends - 1)) {
            yield {
              label: `${operation} finds its own (${where}), 200`,
              fault: false,
              next: answered('200'),
            };
          } else {
            yield {
              label: `${operation} finds another (${where}), 1002`,
              fault: false,
              next: answered('1002'),
            };
          }
        }
      }
    }
  }
}

function signOf({ ownedBy }: StorageProtocol, operation: Operation, sends: number): string {
  if (ownedBy === 'commit') return 'c';
  return ownedBy === 'operation' ? `o${operation}` : `o${operation}s${sends}`;
}

function withRequests(state: StorageState, operation: Operation, own: Request[]): StorageState {
  const requests: [Request[], Request[]] = [...state.requests];
  requests[operation] = sorted(own, requestKey);
  return { ...state, requests };
}

function withVerdict(state: StorageState, operation: Operation, verdict: Verdict): StorageState {
  if (state.verdicts[operation].includes(verdict)) return state;
  const verdicts: [Verdict[], Verdict[]] = [...state.verdicts];
  verdicts[operation] = [...state.verdicts[operation], verdict].sort();
  return { ...state, verdicts };
}

/** What a read may see: of the primary, and of a deposed one that still answers. */
function views({ stored, deposed }: StorageState, concern: 'majority' | 'local'): [string, Stored][] {
  const seen = (found: Stored) => (concern === 'local' || found?.majority ? found : undefined);
  const primary: [string, Stored] = ['primary', seen(stored)];
  return deposed === undefined ? [primary] : [primary, ['old primary', seen(deposed.stored)]];
}

/** A 200 for what no majority has yet is no violation by itself: the failover that loses it makes it one. */
function broken({ stored, verdicts }: StorageState): string | undefined {
  if (verdicts.every((given) => given.includes('200'))) return 'S3';
  for (const operation of [0, 1] as const) {
    const given = verdicts[operation];
    const refused = given.includes('1002') || given.includes('5001');
    if (given.includes('200') && stored?.by !== operation) return 'S1';
    if (refused && stored?.by === operation && stored.majority) return 'S2 and S5: refused and stored';
    if (given.includes('1002') && stored === undefined) return 'S2: 1002, and nothing exists';
  }
  return undefined;
}
