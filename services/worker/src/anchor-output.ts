import { open } from 'node:fs/promises';

/** Appends each line to the file, on disk when it returns, or to standard output for `stdout`. */
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
