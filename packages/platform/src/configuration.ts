import { readFileSync } from 'node:fs';
import { type CleanedEnv, cleanEnv, EnvError, EnvMissingError, makeValidator } from 'envalid';

/** Settings that cannot be used. The message names every fault at once and says what to do about each. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';

  constructor(faults: readonly string[]) {
    super(`configuration: ${faults.join('; ')}`);
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Stage one of configuration: reads the variables that `specs` names, without interpreting how they belong together.
 * `NAME_FILE` names a file that holds the value of `NAME`, as container secrets do. An empty value counts as absent.
 * `contradictions` is stage two's chance to name, in the same message, what is wrong between variables.
 * @throws ConfigurationError naming every fault; no value of a secret is in it.
 */
export function readEnvironment<S extends object>(
  environment: Environment,
  specs: S,
  contradictions: (values: CleanedEnv<S>) => readonly string[] = () => [],
): CleanedEnv<S> {
  const faults: string[] = [];
  const given: Record<string, string> = {};
  for (const name of Object.keys(specs)) {
    const value = readValue(name, environment, faults);
    if (value !== undefined && value !== '') given[name] = value;
  }

  const values = cleanEnv(given, specs, {
    reporter: ({ errors }) => {
      for (const [name, error] of Object.entries<Error>(errors as Record<string, Error>)) {
        const missing = error instanceof EnvMissingError;
        faults.push(missing ? `${name} is required` : `${name}: ${error.message}`);
      }
    },
  }) as CleanedEnv<S>;
  if (faults.length === 0) faults.push(...contradictions(values));
  if (faults.length > 0) throw new ConfigurationError(faults);
  return values;
}

function readValue(name: string, environment: Environment, faults: string[]): string | undefined {
  const direct = environment[name];
  const file = environment[`${name}_FILE`];
  if (file === undefined || file === '') return direct;
  if (direct !== undefined && direct !== '') {
    faults.push(`${name} and ${name}_FILE are both set: keep one`);
    return undefined;
  }
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    faults.push(`${name}_FILE names a file that cannot be read`);
    return undefined;
  }
}

/** A validator for whole numbers within bounds, both included. */
export const wholeNumber = (min: number, max: number) =>
  makeValidator<number>((input) => {
    const value = Number(input);
    if (!/^-?\d+$/.test(input) || value < min || value > max) {
      throw new EnvError(`must be a whole number from ${min} to ${max}`);
    }
    return value;
  });

/** A validator for comma separated lists; white space around the parts and empty parts do not count. */
export const list = makeValidator<string[]>((input) =>
  input
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== ''),
);
