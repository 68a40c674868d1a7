/** Refused sign-ins that cost nobody time: slips of a few people. One is forgotten every 3 s. */
const FREE = 20;
const FORGOTTEN_MS = 3_000;
/** Each further one delays all attempts by this much, up to the maximum, which leaves time to answer. */
const STEP_MS = 100;
const DELAY_MS_MAX = 2_000;

/**
 * Delays all attempts to sign in while many are refused, wherever they come from. Since only so many attempts run at
 * once, their delays bound the rate at which anybody can guess, with however many addresses.
 */
export function slowDown(now: () => number = () => performance.now()) {
  let level = 0;
  let at = now();
  const current = () => Math.max(0, level - (now() - at) / FORGOTTEN_MS);
  return {
    refused(): void {
      level = current() + 1;
      at = now();
    },
    delayMs: () => Math.min(DELAY_MS_MAX, Math.max(0, current() - FREE) * STEP_MS),
  };
}
