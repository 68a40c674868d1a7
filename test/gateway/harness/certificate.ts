import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** A directory with tls.crt and tls.key for localhost, as the gateway takes it; deleted at the end. */
export type Certificate = AsyncDisposable & { directory: string; pem: string };

export async function makeCertificate(): Promise<Certificate> {
  const directory = await mkdtemp(join(tmpdir(), 'certificate-'));
  const file = (name: string) => join(directory, name);
  await promisify(execFile)('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'],
    ...['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'],
    ...['-keyout', file('tls.key'), '-out', file('tls.crt')],
  ]);
  return {
    directory,
    pem: await readFile(file('tls.crt'), 'utf8'),
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true }),
  };
}
