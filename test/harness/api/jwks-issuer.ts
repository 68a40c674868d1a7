import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { SigningAlgorithm, TokenParts } from './tokens.ts';

/** A key pair as an issuer keeps it: what signs, and what is published. */
export type IssuerKey = {
  /** For `token`: the algorithm, the private key and the key id in the header. */
  signing: Required<Pick<TokenParts, 'alg' | 'key' | 'header'>>;
  jwk: Record<string, unknown>;
  publicKey: KeyObject;
};

const generate = {
  RS256: () => generateKeyPairSync('rsa', { modulusLength: 2_048 }),
  PS256: () => generateKeyPairSync('rsa', { modulusLength: 2_048 }),
  ES256: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  EdDSA: () => generateKeyPairSync('ed25519'),
};

export function issuerKey(kid: string, alg: Exclude<SigningAlgorithm, 'HS256'> = 'ES256'): IssuerKey {
  const { privateKey, publicKey } = generate[alg]();
  return {
    signing: { alg, key: privateKey, header: { kid } },
    jwk: { ...publicKey.export({ format: 'jwk' }), kid, alg, use: 'sig' },
    publicKey,
  };
}

export type JwksIssuer = AsyncDisposable & {
  url: string;
  /** How often the key set was asked for. */
  readonly fetches: number;
  /** What is published from now on. */
  publish: (...keys: readonly IssuerKey[]) => void;
  /** Answers from now on however this does; nothing at all is a way to answer, too. */
  answer: (respond: (response: ServerResponse) => void) => void;
  close: () => Promise<void>;
};

/** An issuer of access tokens that publishes a key set (RFC 7517 §5) over HTTP. */
export async function jwksIssuer(...keys: readonly IssuerKey[]): Promise<JwksIssuer> {
  let fetches = 0;
  let respond: (response: ServerResponse) => void;
  const publish = (...published: readonly IssuerKey[]) => {
    const body = JSON.stringify({ keys: published.map(({ jwk }) => jwk) });
    respond = (response) => response.setHeader('content-type', 'application/jwk-set+json').end(body);
  };
  publish(...keys);

  const server = createServer((_request, response) => {
    fetches++;
    respond(response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');

  const close = async () => {
    if (!server.listening) return;
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks.json`,
    get fetches() {
      return fetches;
    },
    publish,
    answer: (how) => {
      respond = how;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
