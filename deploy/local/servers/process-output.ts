const LINES_MAX = 50;

/** The last lines that a process wrote, and which of them says why it ended. */
export class ProcessOutput {
  readonly #lines: string[] = [];
  #rest = '';

  add(chunk: Buffer): void {
    const lines = (this.#rest + chunk.toString()).split('\n');
    this.#rest = lines.pop() ?? '';
    this.#lines.push(...lines.filter((line) => line.trim() !== ''));
    this.#lines.splice(0, this.#lines.length - LINES_MAX);
  }

  /**
   * mongod writes JSON with a severity, and its first error causes the others. Node prints an error's name and message
   * before its stack. nginx and the services write plain lines, of which the last one counts; Redis puts '#' before
   * warnings.
   */
  reason(): string {
    const lines = [...this.#lines, this.#rest].filter((line) => line !== '');
    const errors = lines.flatMap(mongodError);
    const [error] = [...errors.filter(({ isCause }) => isCause), ...errors];
    if (error !== undefined) return error.text;
    const thrown = lines.find((line) => /^(?:\w+: |Uncaught )?\w*Error\b/.test(line));
    if (thrown !== undefined) return thrown;
    const warning = lines.findLast((line) => /^\d+:\w .+? # /.test(line));
    if (warning !== undefined) return warning.replace(/^.+? # /, '');
    return lines.findLast((line) => !line.startsWith('{')) ?? lines.at(-1) ?? 'it wrote nothing';
  }
}

type MongodLine = { s: string; msg: string; attr?: Record<string, unknown> };

/** What a line says if it is an error of mongod, and whether that is a cause or only the name of what has happened. */
function mongodError(line: string): { text: string; isCause: boolean }[] {
  const parsed = mongodLine(line);
  if (parsed === undefined || !/^[EF]$/.test(parsed.s)) return [];
  const { msg, attr = {} } = parsed;
  const { error, message, reason } = attr as Record<string, { errmsg?: string; msg?: string } | undefined>;
  const cause = [error?.errmsg, error, reason, message?.msg, message].find(
    (text) => typeof text === 'string',
  );
  const text = cause ?? `${msg} ${JSON.stringify(attr)}`;
  return [{ text: text.replaceAll(/\s+/g, ' ').trim(), isCause: cause !== undefined }];
}

/** Undefined for other lines, also for one of mongod that was cut. */
function mongodLine(line: string): MongodLine | undefined {
  if (!line.startsWith('{"t":')) return undefined;
  try {
    return JSON.parse(line) as MongodLine;
  } catch {
    return undefined;
  }
}
