import { createPrivateKey, createPublicKey, generateKeyPairSync, hash, type KeyObject } from 'node:crypto';
import type { SigningKey } from './anchor.ts';

const ID_DIGITS = 16;
const PEM = /-----BEGIN PUBLIC KEY-----[^-]+-----END PUBLIC KEY-----/g;

/** Public keys by id. */
export type AnchorKeys = ReadonlyMap<string, KeyObject>;

/** @throws Error when it is no Ed25519 private key in PEM. The message names the rule and holds nothing of the key. */
export function readSigningKey(pem: string): SigningKey {
  let privateKey: KeyObject;
  try {
    privateKey = createPrivateKey(pem);
  } catch {
    throw new Error('must be a private key in PEM');
  }
  if (privateKey.asymmetricKeyType !== 'ed25519') throw new Error('must be an Ed25519 key');
  return { id: keyId(createPublicKey(privateKey)), privateKey };
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

/** The public key that belongs to a private one, in PEM. */
export function publicKeyOf(privatePem: string): string {
  return createPublicKey(createPrivateKey(privatePem)).export({ type: 'spki', format: 'pem' }).toString();
}

/** The beginning of the SHA-256 of the key's 32 bytes. */
function keyId(publicKey: KeyObject): string {
  const { x } = publicKey.export({ format: 'jwk' });
  return hash('sha256', Buffer.from(x as string, 'base64url'), 'hex').slice(0, ID_DIGITS);
}
