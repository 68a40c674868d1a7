import { createPublicKey, type JsonWebKey } from 'node:crypto';
import { algorithmsOf } from './key-strength.ts';

const FETCH_MS_MAX = 2_000;
const BODY_BYTES_MAX = 512 * 1024;
const KEYS_MAX = 100;
/** Delay before the next attempt after a failed fetch. */
const RETRY_MS = 5_000;
/** Tokens with unknown key ids cause at most one fetch in this time, whoever sends them. */
const UNKNOWN_KEY_FETCH_MS = 30_000;

type VerificationKey = { pem: string; algorithms: readonly string[] };

export type JwksKeys = {
  /**
   * The key with this id; `unknown` when the issuer does not publish it, `unavailable` when no fetch has succeeded yet.
   * Known keys are returned at once, also while the issuer is down.
   */
  find: (keyId: string) => Promise<VerificationKey | 'unknown' | 'unavailable'>;
  /** Grows with each successful fetch. */
  version: () => number;
  close: () => void;
};

/**
 * The key set (RFC 7517 §5) at one configured address. It is fetched again every `cacheMs` and kept while the issuer is
 * down. A key that is missing from the newest set is no longer accepted. Keys that are too weak, for another use or
 * without an id are ignored.
 */
export function jwksKeys(options: {
  url: string;
  cacheMs: number;
  now: () => number;
  onFetch: (failure: unknown) => void;
}): JwksKeys {
  let keys: ReadonlyMap<string, VerificationKey> | undefined;
  let version = 0;
  let fetching: Promise<void> | undefined;
  let unknownKeyFetch = Number.NEGATIVE_INFINITY;
  let next: NodeJS.Timeout | undefined;
  const closed = new AbortController();

  function fetchOnce(): Promise<void> {
    fetching ??= fetchKeys(options.url, closed.signal)
      .then(
        (fetched) => {
          keys = fetched;
          version++;
          options.onFetch(undefined);
          schedule(options.cacheMs);
        },
        (failure) => {
          options.onFetch(failure);
          schedule(RETRY_MS);
        },
      )
      .finally(() => {
        fetching = undefined;
      });
    return fetching;
  }

  function schedule(ms: number): void {
    clearTimeout(next);
    if (!closed.signal.aborted) next = setTimeout(fetchOnce, ms).unref();
  }

  void fetchOnce();

  return {
    async find(keyId) {
      const known = keys?.get(keyId);
      if (known !== undefined) return known;
      if (fetching === undefined && options.now() - unknownKeyFetch >= UNKNOWN_KEY_FETCH_MS) {
        unknownKeyFetch = options.now();
        await fetchOnce();
      } else {
        await fetching;
      }
      return keys?.get(keyId) ?? (keys === undefined ? 'unavailable' : 'unknown');
    },
    version: () => version,
    close() {
      closed.abort();
      clearTimeout(next);
    },
  };
}

async function fetchKeys(url: string, closed: AbortSignal): Promise<Map<string, VerificationKey>> {
  const response = await fetch(url, {
    redirect: 'error',
    headers: { accept: 'application/json' },
    signal: AbortSignal.any([closed, AbortSignal.timeout(FETCH_MS_MAX)]),
  });
  if (!response.ok) throw new Error(`the issuer answered ${response.status}`);
  const body = JSON.parse(await readBounded(response)) as { keys?: unknown } | null;
  if (!Array.isArray(body?.keys)) throw new Error('the issuer answered no key set');
  if (body.keys.length > KEYS_MAX) throw new Error(`the key set has more than ${KEYS_MAX} keys`);

  const keys = new Map<string, VerificationKey>();
  for (const jwk of body.keys as JsonWebKey[]) {
    const key = usableKey(jwk);
    if (key !== undefined) keys.set(String(jwk['kid']), key);
  }
  return keys;
}

async function readBounded(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) throw new Error(`the key set is over ${BODY_BYTES_MAX} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function usableKey(jwk: JsonWebKey): VerificationKey | undefined {
  if (typeof jwk?.['kid'] !== 'string' || !mayVerify(jwk)) return undefined;
  try {
    const key = createPublicKey({ key: jwk, format: 'jwk' });
    const algorithms = algorithmsOf(key).filter(
      (algorithm) => jwk['alg'] === undefined || jwk['alg'] === algorithm,
    );
    if (algorithms.length === 0) return undefined;
    return { pem: key.export({ type: 'spki', format: 'pem' }) as string, algorithms };
  } catch {
    return undefined;
  }
}

/** RFC 7517 §4.2, §4.3: a key that is published for another use must not verify tokens. */
function mayVerify({ use, key_ops: operations }: JsonWebKey): boolean {
  if (use !== undefined && use !== 'sig') return false;
  return operations === undefined || (Array.isArray(operations) && operations.includes('verify'));
}
