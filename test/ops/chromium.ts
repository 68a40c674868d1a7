import { findOnPath } from '@plant-store/local/servers/binaries/search-path';
import { type Browser, chromium } from 'playwright-core';

const programs = ['chromium', 'chromium-browser', 'google-chrome'];
const quiet = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Undefined where no Chromium is installed: browser tests are then skipped, and say so; under CI that is a failure. */
export const installedChromium =
  process.env['CHROMIUM'] ?? programs.map((name) => findOnPath(name)).find(Boolean);
if (installedChromium === undefined) {
  const missing = 'no Chromium is installed (apt-get install chromium, or set CHROMIUM to its path)';
  if (process.env['CI'] === 'true') throw new Error(`browser tests cannot run: ${missing}`);
  process.stderr.write(`\n!!! BROWSER TESTS ARE SKIPPED: ${missing}\n\n`);
}

export function startChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: installedChromium as string, args: quiet });
}
