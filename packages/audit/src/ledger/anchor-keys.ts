import { createPrivateKey, createPublicKey, generateKeyPairSync, hash, type KeyObject } from 'node:crypto';
import type { SigningKey } from './anchor.ts';

const ID_DIGITS = 16;
const SEED = /^[0-9a-f]{64}$/i;
/** What stands before the 32 bytes of an Ed25519 private key in PKCS #8 (RFC 8410). */
const SEED_PREFIX = '302e020100300506032b657004220420';
const PEM = /-----BEGIN PUBLIC KEY-----[^-]+-----END PUBLIC KEY-----/g;

/** Public keys by id. */
export type AnchorKeys = ReadonlyMap<string, KeyObject>;

/**
 * @param text the private key in PEM, or its 32 bytes as hexadecimal digits, which fit into one line of a settings file
 * @throws Error when it is no Ed25519 private key. The message names the rule and holds nothing of the key.
 */
export function readSigningKey(text: string): SigningKey {
  const privateKey = readPrivateKey(text);
  if (privateKey.asymmetricKeyType !== 'ed25519') throw new Error('must be an Ed25519 key');
  return { id: keyId(createPublicKey(privateKey)), privateKey };
}

function readPrivateKey(text: string): KeyObject {
  try {
    if (!SEED.test(text)) return createPrivateKey(text);
    return createPrivateKey({ key: Buffer.from(SEED_PREFIX + text, 'hex'), format: 'der', type: 'pkcs8' });
  } catch {
    throw new Error('must be a private key in PEM, or 64 hexadecimal digits');
  }
}

/**
 * The public keys of one or several PEM blocks: after a rotation, the old keys are listed together with the new one.
 * @throws Error naming the rule when there is none, or one that is not Ed25519.
 */
export function readPublicKeys(pem: string): AnchorKeys {
  const blocks = pem.match(PEM) ?? [];
  if (blocks.length === 0) throw new Error('holds no public key in PEM');
  return new Map(
    blocks.map((block) => {
      const key = createPublicKey(block);
      if (key.asymmetricKeyType !== 'ed25519') throw new Error('holds a public key that is not Ed25519');
      return [keyId(key), key];
    }),
  );
}

/** A new key pair, both in PEM. */
export function generateAnchorKey(): { privateKey: string; publicKey: string } {
  return generateKeyPairSync('ed25519', {
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
}

/**
 * The public key that belongs to a private one, in PEM.
 * @throws Error as `readSigningKey` does
 */
export function publicKeyOf(privateKey: string): string {
  return createPublicKey(readSigningKey(privateKey).privateKey)
    .export({ type: 'spki', format: 'pem' })
    .toString();
}

/** The beginning of the SHA-256 of the key's 32 bytes. */
function keyId(publicKey: KeyObject): string {
  const { x } = publicKey.export({ format: 'jwk' });
  return hash('sha256', Buffer.from(x as string, 'base64url'), 'hex').slice(0, ID_DIGITS);
}
