import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SignJWT } from 'jose';
import type { LocalConfig } from '../config.ts';
import { StartError } from '../start-error.ts';
import { files, replaceFile } from './data-directory.ts';

/** What tokens of the running system are made with; lies in DATA_DIR while it runs, mode 600. */
type TokenSource = { secret?: string } & LocalConfig['tokens'];

export type Claims = { sub: string; ttl: string; scope?: string };

/** Half a minute to several years, as jose reads it: `1h`, `90s`, `7 days`. */
const TTL =
  /^\d+(?:\.\d+)? ?(?:s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?|y|yrs?|years?)$/i;

export function keepTokenSource(dataDir: string, source: TokenSource): void {
  replaceFile(join(dataDir, files.token), JSON.stringify(source));
}

/** @throws StartError when nothing runs there, or when it takes tokens that cannot be made here. */
export async function accessToken(dataDir: string, { sub, ttl, scope }: Claims): Promise<string> {
  const source = readTokenSource(dataDir);
  if (source.secret === undefined) {
    throw new StartError(`the API verifies tokens by ${source.foreignSource}: obtain one from its issuer`);
  }
  if (!TTL.test(ttl)) throw new StartError(`--ttl ${ttl}: give a number and a unit, as 90s, 15m, 1h or 7d`);

  const granted = scope ?? source.scope;
  const token = new SignJWT(granted === undefined ? {} : { scope: granted })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setSubject(sub)
    .setJti(randomUUID())
    .setIssuedAt()
    .setExpirationTime(ttl);
  if (source.issuer !== undefined) token.setIssuer(source.issuer);
  if (source.audience !== undefined) token.setAudience(source.audience);
  return token.sign(Buffer.from(source.secret));
}

function readTokenSource(dataDir: string): TokenSource {
  try {
    return JSON.parse(readFileSync(join(dataDir, files.token), 'utf8')) as TokenSource;
  } catch {
    throw new StartError(
      `nothing runs on DATA_DIR ${dataDir}: "npm start" first, and give both the same DATA_DIR`,
    );
  }
}
