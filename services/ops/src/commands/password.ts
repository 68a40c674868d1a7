import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { hashPassword, PASSWORD_CHARACTERS_MIN } from '@plant-store/platform/passwords/password-hash';
import { Command, InvalidArgumentError, Option } from 'commander';
import { ROLES, USER_NAME } from '../access/accounts.ts';
import { CommandError } from './failures.ts';
import { printLine } from './output.ts';

export function passwordCommand(): Command {
  return new Command('password')
    .description(
      'Prints the entry of OPS_USERS for a person who may sign in to the console. Asks for the password, or reads ' +
        'it from standard input. The entry holds a hash; the password is kept nowhere.',
    )
    .option('--name <name>', 'the name to sign in with', userName, 'operator')
    .addOption(new Option('--role <role>', 'what the person may do').choices(ROLES).default('operator'))
    .action(async ({ name, role }: { name: string; role: string }) => {
      const password = process.stdin.isTTY
        ? await askTwice()
        : (await text(process.stdin)).replace(/\r?\n$/, '');
      if (password.length < PASSWORD_CHARACTERS_MIN) {
        throw new CommandError(`the password must have at least ${PASSWORD_CHARACTERS_MIN} characters`);
      }
      printLine(`${name}:${role}:${await hashPassword(password)}`);
    });
}

function userName(name: string): string {
  if (USER_NAME.test(name)) return name;
  throw new InvalidArgumentError('It must be 1 to 64 letters, digits or any of . _ @ -');
}

async function askTwice(): Promise<string> {
  const password = await ask('Password: ');
  if ((await ask('Again: ')) !== password) throw new CommandError('the two passwords differ');
  return password;
}

/** Asks on standard error, since standard output is the entry alone; what is typed is not shown. */
async function ask(question: string): Promise<string> {
  process.stderr.write(question);
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: nowhere, terminal: true });
  try {
    return await terminal.question('');
  } finally {
    terminal.close();
    process.stderr.write('\n');
  }
}
