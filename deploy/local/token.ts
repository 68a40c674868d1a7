import { parseArgs } from 'node:util';
import { accessToken } from './data/access-token.ts';

const USAGE = 'npm run --silent token -- [--sub S] [--ttl 1h] [--scope "a b"]';

/** Prints an access token for the running local system, alone on standard output. */
try {
  const { values } = parseArgs({
    options: {
      sub: { type: 'string', default: 'local' },
      ttl: { type: 'string', default: '1h' },
      scope: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  const { sub, ttl, scope, help } = values;
  const dataDir = process.env['DATA_DIR'] || '.local';
  process.stdout.write(
    `${help ? USAGE : await accessToken(dataDir, { sub, ttl, ...(scope !== undefined && { scope }) })}\n`,
  );
} catch (error) {
  process.stderr.write(`token: ${(error as Error).message}\n`);
  process.exitCode = 1;
}
