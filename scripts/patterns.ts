import { parseSync, Visitor } from 'oxc-parser';
import { check } from 'recheck';

/** A regular expression in a file; `source` is undefined where it is put together while the program runs. */
export type Pattern = { line: number; text: string; source?: string; flags: string };

export type Finding = { line: number; text: string; problem: string };

/** A comment with this text and a reason, on a pattern's line or the line before, exempts the pattern. */
const EXCEPTION = /pattern-check: \S/;
/** The result must not depend on how busy the machine is: the checker's other limits count steps, not time. */
const untimed = { timeout: null, attackTimeout: null, incubationTimeout: null, seedingTimeout: null };

/** Patterns that take more than linear time for some input, and those that the checker cannot decide. */
export async function unsafePatterns(file: string, content: string): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const { line, text, source, flags } of patternsIn(file, content)) {
    const problem = source === undefined ? 'is put together at run time' : await judge(source, flags);
    if (problem !== undefined) findings.push({ line, text, problem });
  }
  return findings;
}

async function judge(source: string, flags: string): Promise<string | undefined> {
  const result = await check(source, flags, untimed);
  if (result.status === 'safe') return undefined;
  if (result.status === 'unknown') return `cannot be judged (${result.error.kind})`;
  return `takes ${result.complexity.summary} time for ${result.attack.pattern}`;
}

/** Regular expressions in a source of TypeScript or JavaScript, or in a configuration of nginx. */
export function patternsIn(file: string, content: string): Pattern[] {
  return file.endsWith('.template') ? nginxPatternsIn(content) : sourcePatternsIn(file, content);
}

/** After `~` or `~*`: `"~^a$" 1;` or `~^a$ 1;` in a map, `if ($a !~* "^b$")`, `location ~ ^/c$ {`. */
const NGINX_PATTERN = /"~\*?(?<inQuotes>[^"]+)"|~\*?\s*(?:"(?<quoted>[^"]+)"|(?<bare>[^\s"*;][^\s";]*))/g;

function nginxPatternsIn(content: string): Pattern[] {
  return content.split('\n').flatMap((text, index) =>
    [...text.replace(/^\s*#.*/, '').matchAll(NGINX_PATTERN)].map(({ groups = {} }) => {
      const source = groups['inQuotes'] ?? groups['quoted'] ?? (groups['bare'] as string);
      const dotAll = source.startsWith('(?s)');
      return {
        line: index + 1,
        text: text.trim(),
        source: dotAll ? source.slice(4) : source,
        flags: dotAll ? 's' : '',
      };
    }),
  );
}

/** Literals, `RegExp(…)`, and `pattern: '…'` of JSON schemas, but for those that a comment excuses. */
function sourcePatternsIn(file: string, content: string): Pattern[] {
  const { program, comments, errors } = parseSync(file, content);
  if (errors[0] !== undefined) throw new Error(`${file} cannot be parsed: ${errors[0].message}`);
  const lineOf = (offset: number) => content.slice(0, offset).split('\n').length;
  const excused = new Set(
    comments
      .filter(({ value }) => EXCEPTION.test(value))
      .flatMap(({ end }) => [lineOf(end), lineOf(end) + 1]),
  );
  const found: Pattern[] = [];
  const add = ({ start, end }: { start: number; end: number }, source?: string, flags = '') => {
    const line = lineOf(start);
    if (excused.has(line)) return;
    const text = content.slice(start, end);
    found.push({ line, text, flags, ...(source !== undefined && { source }) });
  };
  const addCall = (call: { start: number; end: number; callee: object }) => {
    if ('name' in call.callee && call.callee.name === 'RegExp') add(call);
  };
  new Visitor({
    Literal: (literal) => {
      if ('regex' in literal) add(literal, literal.regex.pattern, literal.regex.flags);
    },
    NewExpression: addCall,
    CallExpression: addCall,
    Property: ({ key, value }) => {
      const name = key.type === 'Identifier' ? key.name : key.type === 'Literal' && key.value;
      if (name !== 'pattern') return;
      const isText = value.type === 'Literal' && typeof value.value === 'string';
      add(value, isText ? value.value : undefined, 'u');
    },
  }).visit(program);
  return found;
}
