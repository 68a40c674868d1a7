/** Near the 16 KiB that a head may have. */
export const LONG = 15_000;

const SEPARATORS = [...' \t,;:=+-_.~!@#$%^&*/\\|\'"`<>()[]{}?0a'];

/** Values of a header that a pattern reads slowly if it looks at a character more than once; each with its separator. */
export const longValues: readonly [string, (start: string) => { separator: string; value: string }[]][] = [
  ['a run of', (start) => each((separator) => `${start}${separator.repeat(LONG)}`)],
  [
    'values divided by',
    (start) =>
      each((separator) => `${start}${`${start}${separator}`.repeat(Math.floor(LONG / (start.length + 1)))}`),
  ],
];

/** The end decides that it is no valid value, when all before it has been read. */
function each(value: (separator: string) => string): { separator: string; value: string }[] {
  return SEPARATORS.map((separator) => ({ separator, value: `${value(separator)}\x80` }));
}
