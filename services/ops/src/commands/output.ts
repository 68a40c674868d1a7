import { int64FromJsonNumber } from '@plant-store/contracts/plant-id';
import { InvalidArgumentError } from 'commander';
import { askedTime, TIME_RULE } from '../search/asked-time.ts';

/** As JSON, with ids as strings of decimal digits: most JSON parsers read numbers as doubles. */
export function printJson(value: unknown): void {
  const text = JSON.stringify(
    value,
    (_name, member) => (typeof member === 'bigint' ? member.toString() : member),
    2,
  );
  process.stdout.write(`${text}\n`);
}

export function printLine(line = ''): void {
  process.stdout.write(`${line}\n`);
}

/** Names on the left, values beside them; what is undefined is left out. */
export function printFacts(facts: Readonly<Record<string, string | undefined>>): void {
  const told = Object.entries(facts).filter(([, value]) => value !== undefined);
  const width = Math.max(...told.map(([name]) => name.length));
  for (const [name, value] of told) printLine(`${name.padEnd(width)}  ${value}`);
}

export function printTable(titles: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = titles.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => (row[column] ?? '').length)),
  );
  for (const row of [titles, ...rows]) {
    printLine(
      row
        .map((cell, column) => cell.padEnd(widths[column] as number))
        .join('  ')
        .trimEnd(),
    );
  }
}

/** Text from clients, escaped so that it cannot send control sequences to the terminal. */
export function shown(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}]/gu, (character) => JSON.stringify(character).slice(1, -1));
}

const digits = new Intl.NumberFormat('en-GB');

export function count(value: number): string {
  return digits.format(value);
}

export function plantId(text: string): bigint {
  const id = int64FromJsonNumber(text);
  if (id === undefined) throw new InvalidArgumentError('An id is a whole number from -2^63 to 2^63-1.');
  return id;
}

/** A time as 2026-11-21 or 2026-11-21T10:00:00Z, or how long ago: 90s, 15m, 2h, 7d. */
export function time(text: string): Date {
  const at = askedTime(text, new Date());
  if (at === undefined) throw new InvalidArgumentError(TIME_RULE);
  return at;
}

export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < min || value > max) {
      throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
    }
    return value;
  };
}
