import { createPublicKey, type KeyObject } from 'node:crypto';
import { isIP } from 'node:net';

/** The signature algorithms (RFC 7518 §3.1, RFC 8037) that asymmetric keys may be used with. */
export type Algorithm = 'RS256' | 'PS256' | 'ES256' | 'EdDSA';

const SECRET_BYTES_MIN = 32;
/** A secret with fewer different bytes was probably typed, not generated. */
const SECRET_DISTINCT_BYTES_MIN = 8;
const RSA_BITS_MIN = 2_048;

type Sources = {
  AUTH_SECRET?: string | undefined;
  AUTH_PUBLIC_KEY?: string | undefined;
  AUTH_JWKS_URL?: string | undefined;
};

/** What is weak or contradictory about the configured key source, as messages for the operator. */
export function verificationFaults(env: Sources): string[] {
  const given = (['AUTH_SECRET', 'AUTH_PUBLIC_KEY', 'AUTH_JWKS_URL'] as const).filter(
    (name) => env[name] !== undefined,
  );
  if (given.length === 0) {
    return ['no key source: set exactly one of AUTH_SECRET, AUTH_PUBLIC_KEY, AUTH_JWKS_URL'];
  }
  const faults = given.length > 1 ? [`${given.join(' and ')} contradict each other: keep exactly one`] : [];
  if (env.AUTH_SECRET !== undefined) faults.push(...secretFaults(env.AUTH_SECRET));
  if (env.AUTH_PUBLIC_KEY !== undefined) faults.push(...publicKeyFaults(env.AUTH_PUBLIC_KEY));
  if (env.AUTH_JWKS_URL !== undefined) faults.push(...jwksUrlFaults(env.AUTH_JWKS_URL));
  return faults;
}

function secretFaults(secret: string): string[] {
  const bytes = Buffer.from(secret);
  if (bytes.length < SECRET_BYTES_MIN) {
    return [`AUTH_SECRET has ${bytes.length} bytes: use at least ${SECRET_BYTES_MIN} random ones`];
  }
  if (new Set(bytes).size < SECRET_DISTINCT_BYTES_MIN) {
    return [
      'AUTH_SECRET repeats a few characters: use random bytes, as "openssl rand -base64 48" prints them',
    ];
  }
  if (secret.includes('-----BEGIN')) return ['AUTH_SECRET holds a PEM key: set AUTH_PUBLIC_KEY instead'];
  return [];
}

function publicKeyFaults(value: string): string[] {
  try {
    publicKeyAlgorithms(value);
    return [];
  } catch (error) {
    return [`AUTH_PUBLIC_KEY ${(error as Error).message}`];
  }
}

/**
 * The algorithms a public key in PEM allows; newlines may be written as `\n`.
 * @throws Error saying what is wrong with the key. The caller puts the variable's name before the message.
 */
export function publicKeyAlgorithms(value: string): { pem: string; algorithms: readonly Algorithm[] } {
  const pem = value.replaceAll('\\n', '\n');
  if (pem.includes('PRIVATE KEY'))
    throw new Error('holds a private key: give the public one, keep the other secret');
  let key: KeyObject;
  try {
    key = createPublicKey(pem);
  } catch {
    throw new Error('is no public key in PEM: it begins with "-----BEGIN PUBLIC KEY-----"');
  }
  return { pem, algorithms: algorithmsOf(key) };
}

/** @throws Error when the key is of a kind or strength that is not accepted. */
export function algorithmsOf(key: KeyObject): readonly Algorithm[] {
  const details = key.asymmetricKeyDetails;
  switch (key.asymmetricKeyType) {
    case 'rsa':
      if ((details?.modulusLength ?? 0) < RSA_BITS_MIN) {
        throw new Error(`is an RSA key of ${details?.modulusLength} bits: use at least ${RSA_BITS_MIN}`);
      }
      return ['RS256', 'PS256'];
    case 'ec':
      if (details?.namedCurve !== 'prime256v1') {
        throw new Error(`is on the curve ${details?.namedCurve}: use P-256 (ES256)`);
      }
      return ['ES256'];
    case 'ed25519':
      return ['EdDSA'];
    default:
      throw new Error(`is of the kind ${key.asymmetricKeyType}: use RSA, EC P-256 or Ed25519`);
  }
}

function jwksUrlFaults(value: string): string[] {
  if (!URL.canParse(value)) return ['AUTH_JWKS_URL is no URL'];
  const { protocol, hostname, username, password } = new URL(value);
  const faults: string[] = [];
  if (protocol !== 'https:' && !(protocol === 'http:' && isLoopback(hostname))) {
    faults.push('AUTH_JWKS_URL must be https, or whoever sits in between chooses the keys');
  }
  if (username !== '' || password !== '') faults.push('AUTH_JWKS_URL must not hold a user or password');
  return faults;
}

function isLoopback(hostname: string): boolean {
  return (
    hostname === 'localhost' || hostname === '[::1]' || (isIP(hostname) === 4 && hostname.startsWith('127.'))
  );
}
