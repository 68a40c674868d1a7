/** A figure for people, at most three digits: `1.25k/s`, `12 ms`, `1.5 s`; `–` where there is none. */
export function figure(value: number | null | undefined, unit: string): string;
