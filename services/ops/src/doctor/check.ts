/**
 * What one look found. `good`: nothing to do. `warn`: less than promised. `bad`: not doing its job. `skipped`: it could
 * not be looked at, for a reason that another check names or that is no fault.
 */
export type Check = {
  name: string;
  level: 'good' | 'warn' | 'bad' | 'skipped';
  /** What was found, as a sentence. */
  found: string;
  /** What to do about it. */
  mend?: string;
};

export function good(name: string, found: string): Check {
  return { name, level: 'good', found };
}

export function skipped(name: string, found: string): Check {
  return { name, level: 'skipped', found };
}
