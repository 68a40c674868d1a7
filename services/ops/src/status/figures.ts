/** Keeps a figure and its unit on one line. */
const NO_BREAK = '\u00a0';

const units = [
  { unit: 'd', seconds: 86_400, parts: { unit: 'h', seconds: 3_600 } },
  { unit: 'h', seconds: 3_600, parts: { unit: 'min', seconds: 60 } },
  { unit: 'min', seconds: 60, parts: { unit: 's', seconds: 1 } },
] as const;

const digits = new Intl.NumberFormat('en-GB');

/** A whole number for reading: `12,345`. */
export function count(value: number): string {
  return digits.format(value);
}

/** A duration in its largest two units: `0.4 s`, `12 s`, `3 min 20 s`, `2 h 5 min`, `3 d 4 h`. */
export function age(ms: number): string {
  const total = Math.max(0, ms) / 1_000;
  const scale = units.find(({ seconds }) => total >= seconds);
  if (scale === undefined) return `${total < 10 ? total.toFixed(1) : Math.floor(total)}${NO_BREAK}s`;

  const { unit, seconds, parts } = scale;
  const whole = Math.floor(total / seconds);
  const rest = Math.floor((total % seconds) / parts.seconds);
  return [whole, unit, rest, parts.unit].join(NO_BREAK);
}
