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
    for (const line of lines) {
      // pattern-check: reads what our own servers print
      const error = /"s":"[EF]".*"error":(?:"([^"]+)"|\{.*?"errmsg":"([^"]+)")/.exec(line);
      if (error !== null) return (error[1] ?? error[2]) as string;
    }
    const thrown = lines.find((line) => /^(?:\w+: |Uncaught )?\w*Error\b/.test(line));
    if (thrown !== undefined) return thrown;
    const warning = lines.findLast((line) => /^\d+:\w .+? # /.test(line));
    if (warning !== undefined) return warning.replace(/^.+? # /, '');
    return lines.findLast((line) => !line.startsWith('{')) ?? lines.at(-1) ?? 'it wrote nothing';
  }
}
