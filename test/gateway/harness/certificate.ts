import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generate } from 'selfsigned';

/** A directory with tls.crt and tls.key for localhost, as the gateway takes it; deleted at the end. */
export type Certificate = AsyncDisposable & { directory: string; pem: string };

export async function makeCertificate(): Promise<Certificate> {
  const certificate = await generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [
      // It is its own authority for the clients that are given it.
      { name: 'basicConstraints', cA: true },
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: 'localhost' },
          { type: 7, ip: '127.0.0.1' },
        ],
      },
    ],
  });
  const directory = await mkdtemp(join(tmpdir(), 'certificate-'));
  await writeFile(join(directory, 'tls.crt'), certificate.cert);
  await writeFile(join(directory, 'tls.key'), certificate.private, { mode: 0o600 });
  return {
    directory,
    pem: certificate.cert,
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true }),
  };
}
