import { renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createStream, type RotatingFileStream } from 'rotating-file-stream';

const MEGABYTES_MAX = 10;
const FILES_KEPT = 2;
const CHECK_MS = 1_000;

/**
 * `<directory>/<name>.log`, of 10 MB at most; the two before it are kept as `<name>.log.1` and `.2`.
 * @param failed is called once when the file can no longer be written, as on a full disk; processes go on without it.
 */
export function logFile(
  directory: string,
  name: string,
  failed: (message: string) => void,
): RotatingFileStream {
  // With `rotate`, the first argument is the number of the rotated file, or null.
  const generator = (index: number | Date | null) => `${name}.log${index ? `.${index}` : ''}`;
  const stream = createStream(generator, {
    path: directory,
    size: `${MEGABYTES_MAX}M`,
    rotate: FILES_KEPT,
    mode: 0o600,
  });
  stream.once('error', (error) => failed(`${join(directory, name)}.log: ${error.message}`));
  stream.on('error', () => {});
  return stream;
}

/** A log that a process writes itself, to a file that it reopens on a signal. */
export type OwnLog = { path: string; reopenSignal: NodeJS.Signals };

/**
 * Rotates such a log at the same size, which is checked once a second.
 * @returns a function that stops the checks.
 */
export function rotateOwnLog({ path, reopenSignal }: OwnLog, pid: () => number | undefined): () => void {
  const numbered = (index: number) => (index === 0 ? path : `${path}.${index}`);
  const timer = setInterval(() => {
    try {
      if (bytesOf(path) < MEGABYTES_MAX * 2 ** 20) return;
      for (let index = FILES_KEPT; index > 0; index--) {
        if (bytesOf(numbered(index - 1)) > 0) renameSync(numbered(index - 1), numbered(index));
      }
      const writer = pid();
      if (writer !== undefined) process.kill(writer, reopenSignal);
    } catch {
      // The disk is full or the writer has ended; both are reported elsewhere. The next try is in a second.
    }
  }, CHECK_MS);
  return () => clearInterval(timer);
}

function bytesOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
