import { open } from 'node:fs/promises';

/** Appends each line to the file, and returns once it is on disk; for `stdout`, writes it to standard output. */
export function anchorOutput(output: string | undefined): ((line: string) => Promise<void>) | undefined {
  if (output === undefined) return undefined;
  if (output === 'stdout') {
    return (line) =>
      new Promise((resolve, reject) =>
        process.stdout.write(`${line}\n`, (error) => (error ? reject(error) : resolve())),
      );
  }
  return async (line) => {
    await using file = await open(output, 'a', 0o600);
    await file.appendFile(`${line}\n`);
    await file.sync();
  };
}
