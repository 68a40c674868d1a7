const UNITS_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

export const TIME_RULE = 'A time is 2026-11-21T10:00:00Z, 2026-11-21, or how long ago: 90s, 15m, 2h, 7d.';

/** A time as an operator writes it, in UTC, or how long ago; undefined for any other text. */
export function askedTime(text: string, now: Date): Date | undefined {
  const ago = /^(\d{1,6})([smhd])$/.exec(text);
  if (ago !== null)
    return new Date(now.getTime() - Number(ago[1]) * UNITS_MS[ago[2] as keyof typeof UNITS_MS]);
  const at = new Date(/^\d{4}-\d\d-\d\d/.test(text) ? text : Number.NaN);
  return Number.isNaN(at.getTime()) ? undefined : at;
}
