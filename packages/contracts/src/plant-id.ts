const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;
const INT64_DIGITS_MAX = 19;
/** With more exponent digits than this, no literal that fits into a request body is an int64 other than 0. */
const EXPONENT_DIGITS_MAX = 6;

/** A JSON number literal (RFC 8259 §6): sign, integer digits, fraction digits, exponent sign, exponent digits. */
const JSON_NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?)(\d+))?$/;

/**
 * The exact value of a JSON number literal when it is an integer from −2^63 to 2^63−1, in whatever spelling
 * (`1`, `1.0`, `1e3`, `-0`); `undefined` for every other number. Works on the digits, never on a double, and costs
 * nothing for huge exponents.
 */
export function int64FromJsonNumber(literal: string): bigint | undefined {
  const match = JSON_NUMBER.exec(literal);
  if (match === null) return undefined;
  const [, sign, integer = '', fraction = '', exponentSign = '', exponentDigits = ''] = match;

  const significant = (integer + fraction).replace(/^0+/, '');
  const exponent = exponentDigits.replace(/^0+/, '');
  if (significant === '') return 0n;
  if (exponent.length > EXPONENT_DIGITS_MAX) return undefined;

  const digits = stripTrailingZeros(significant);
  const power =
    Number(`${exponentSign}${exponent || '0'}`) - fraction.length + (significant.length - digits.length);
  if (power < 0 || digits.length + power > INT64_DIGITS_MAX) return undefined;

  const magnitude = BigInt(digits + '0'.repeat(power));
  const value = sign === '-' ? -magnitude : magnitude;
  return value >= INT64_MIN && value <= INT64_MAX ? value : undefined;
}

/** Linear, where the pattern /0+$/ is quadratic on long runs of zeros inside the digits. */
function stripTrailingZeros(digits: string): string {
  let end = digits.length;
  while (digits.charCodeAt(end - 1) === 48) end--;
  return digits.slice(0, end);
}
