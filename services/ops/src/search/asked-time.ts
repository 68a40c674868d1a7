const UNITS_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

export const TIME_RULE = 'A time is 2026-11-21T10:00:00Z, 2026-11-21, or how long ago: 90s, 15m, 2h, 7d.';

/** A date, also with a time as pages show it (`2026-11-21 10:00:00.123`), also with the offset from UTC. */
const TIME = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)(Z|[+-]\d\d:\d\d)?)?$/;

/** A time as an operator writes it, in UTC unless it names an offset, or how long ago; undefined for any other text. */
export function askedTime(text: string, now: Date): Date | undefined {
  const ago = /^(\d{1,6})([smhd])$/.exec(text);
  if (ago !== null)
    return new Date(now.getTime() - Number(ago[1]) * UNITS_MS[ago[2] as keyof typeof UNITS_MS]);
  const [, date, time = '00:00', offset = 'Z'] = TIME.exec(text) ?? [];
  if (date === undefined || !isDate(date)) return undefined;
  const at = new Date(`${date}T${time}${offset}`);
  return Number.isNaN(at.getTime()) ? undefined : at;
}

/** JavaScript takes 30 February for 2 March. */
function isDate(date: string): boolean {
  const midnight = new Date(`${date}T00:00Z`);
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(date);
}
