import { type ParseArgsConfig, parseArgs } from 'node:util';

/** The arguments of a command of this project. A mistake in them is told with the usage, and ends the process with 2. */
export function commandLine<T extends ParseArgsConfig>(
  name: string,
  usage: string,
  config: T,
): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config);
  } catch (error) {
    process.stderr.write(`${name}: ${(error as Error).message}\n${usage}`);
    process.exit(2);
  }
}
