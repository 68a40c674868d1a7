import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
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
 * Reads the variables that `specs` names and checks each of them. `NAME_FILE` names a file that holds the value of
 * `NAME`, as container secrets do. An empty value counts as absent. `contradictions` then checks the variables
 * together; the faults it returns are added to the same message.
 * @throws ConfigurationError naming every fault; no value of a secret is in it.
 */
export function readEnvironment<S extends object>(
  environment: Environment,
  specs: S,
  contradictions: (values: CleanedEnv<S>) => readonly string[] = () => [],
): CleanedEnv<S> {
  const faults: string[] = [];
  const atFault = new Set<string>();
  const given: Record<string, string> = {};
  for (const name of Object.keys(specs)) {
    const before = faults.length;
    const value = readValue(name, environment, faults);
    if (faults.length > before) atFault.add(name);
    if (value !== undefined && value !== '') given[name] = value;
  }

  const values = cleanEnv(given, specs, {
    reporter: ({ errors }) => {
      for (const [name, error] of Object.entries<Error>(errors as Record<string, Error>)) {
        if (atFault.has(name)) continue;
        atFault.add(name);
        const missing = error instanceof EnvMissingError;
        faults.push(missing ? `${name} is required` : `${name}: ${error.message}`);
      }
    },
  }) as CleanedEnv<S>;
  faults.push(...judge(contradictions, values, atFault));
  if (faults.length > 0) throw new ConfigurationError(faults);
  return values;
}

class VariableAtFault extends Error {}

/** A check that involves a faulty variable is not possible: reading such a variable ends the check. */
function judge<V extends object>(
  contradictions: (values: V) => readonly string[],
  values: V,
  atFault: ReadonlySet<string>,
): readonly string[] {
  const readable = new Proxy(values, {
    get(target, name) {
      if (atFault.has(String(name))) throw new VariableAtFault();
      return Reflect.get(target, name);
    },
  });
  try {
    return contradictions(readable);
  } catch (error) {
    if (error instanceof VariableAtFault) return [];
    throw error;
  }
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

/** A validator for printable ASCII text of a bounded length. */
export const boundedText = (charactersMax: number) =>
  makeValidator<string>((input) => {
    if (!/^[\x20-\x7e]+$/.test(input) || input.length > charactersMax) {
      throw new EnvError(`must be 1 to ${charactersMax} printable ASCII characters`);
    }
    return input;
  });

/** White space around the parts and empty parts do not count. */
function splitList(input: string): string[] {
  return input
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** A validator for comma separated IP addresses and networks (`10.0.0.0/8`). */
export const networks = makeValidator<string[]>((input) => {
  const parts = splitList(input);
  const wrong = parts.filter((part) => !isNetwork(part));
  if (wrong.length > 0)
    throw new EnvError(`${wrong.join(' and ')} must be an IP address or a network as 10.0.0.0/8`);
  return parts;
});

function isNetwork(part: string): boolean {
  const [address = '', prefix, ...rest] = part.split('/');
  const bits = { 0: -1, 4: 32, 6: 128 }[isIP(address)] as number;
  if (bits < 0 || rest.length > 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits);
}
