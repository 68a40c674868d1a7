import { findOnPath } from '@plant-store/local/servers/binaries/search-path';

/** False where curl is not installed: tests that paste its commands are then skipped, and say so; CI fails. */
export const hasCurl = findOnPath('curl') !== undefined;
if (!hasCurl) {
  if (process.env['CI'] === 'true') throw new Error('curl is not installed');
  process.stderr.write('commands of curl are not tried: curl is not installed\n');
}
