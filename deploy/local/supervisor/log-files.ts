import { join } from 'node:path';
import { createStream, type RotatingFileStream } from 'rotating-file-stream';

const FILES_KEPT = 2;

/**
 * `<directory>/<name>.log`, of 10 MB at most; the two before it are kept as `<name>.log.1` and `.2`.
 * @param failed is told once when it can no longer be written, as on a full disk: processes go on without their log.
 */
export function logFile(
  directory: string,
  name: string,
  failed: (message: string) => void,
): RotatingFileStream {
  // With `rotate`, the first argument is the number of the rotated file, or null.
  const generator = (index: number | Date | null) => `${name}.log${index ? `.${index}` : ''}`;
  const stream = createStream(generator, { path: directory, size: '10M', rotate: FILES_KEPT, mode: 0o600 });
  stream.once('error', (error) => failed(`${join(directory, name)}.log: ${error.message}`));
  stream.on('error', () => {});
  return stream;
}
