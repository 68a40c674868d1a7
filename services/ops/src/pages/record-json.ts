import { html } from 'ghtml';

/** Longer values are cut: a name may have 64 KiB. */
const VALUE_LENGTH_MAX = 4_000;

/**
 * A stored record as escaped HTML: JSON with a line for each field, ids as their exact digits in quotes, bytes in
 * base64. The field that breaks a rule is marked, also where it is missing.
 */
export function recordJson(record: Readonly<Record<string, unknown>>, wrong?: string): string {
  const [wrongField] = wrong?.split('.') ?? [];
  const fields = Object.entries(record).map(([name, value]) => {
    const line = `  ${JSON.stringify(name)}: ${valueJson(value)}`;
    return name === wrongField ? html`<mark>${line}</mark>` : html`${line}`;
  });
  if (wrongField !== undefined && wrongField !== '' && !Object.hasOwn(record, wrongField)) {
    fields.push(html`<mark>  ${JSON.stringify(wrongField)}: absent</mark>`);
  }
  return `{\n${fields.join(',\n')}\n}`;
}

function valueJson(value: unknown): string {
  const text = exactJson(value, 2);
  const cut = text.length > VALUE_LENGTH_MAX ? `${text.slice(0, VALUE_LENGTH_MAX).toWellFormed()} …` : text;
  return cut.replaceAll('\n', '\n  ');
}

/** Any value of a document as JSON. JSON numbers are doubles, so an int64 is written as a string of its digits. */
export function exactJson(value: unknown, indent?: number): string {
  const exact = (_name: string, own: unknown) => (typeof own === 'bigint' ? own.toString() : own);
  return JSON.stringify(value, exact, indent) ?? 'absent';
}
