import { QuestionError } from '@plant-store/search/question';
import { CommanderError } from 'commander';

/** What a command found out or could not do, in words for the operator. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exitCode: 1 | 2;

  constructor(message: string, exitCode: 1 | 2 = 2) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** One line; of an address it shows only the parts that are not secret. */
export function failureLine(error: unknown): string {
  const isExpected = [CommandError, CommanderError, QuestionError].some((kind) => error instanceof kind);
  const message = error instanceof Error ? error.message : String(error);
  const [line = 'failed'] = message.replace(/^error: /, '').split('\n');
  return withoutSecrets(isExpected ? line : `${(error as Error).name}: ${line}`);
}

/** An address keeps only the parts that are not secret. */
export function withoutSecrets(text: string): string {
  return text.replaceAll(/\/\/[^/@\s]{1,500}@/g, '//…@');
}
