import { Command, CommanderError } from 'commander';
import { auditCommands } from './audit.ts';
import { controlCommands } from './controls.ts';
import { doctorCommand } from './doctor.ts';
import { CommandError, failureLine } from './failures.ts';
import { passwordCommand } from './password.ts';
import { plantCommand } from './plant.ts';
import { reconcileCommand } from './reconcile.ts';
import { reindexCommand } from './reindex.ts';
import { searchCommand } from './search.ts';

/** 0: done, and all is well. 1: done, and something is wrong. 2: it could not be done. */
const EXIT_NOT_DONE = 2;

const program = new Command('npm run ops --')
  .description(
    'What operators do on the command line. Reads MONGODB_URL and REDIS_URL, else the addresses of the local system that ' +
      'runs on DATA_DIR (.local).',
  )
  .helpCommand(false)
  .showHelpAfterError(false)
  .exitOverride()
  .configureOutput({ writeErr: () => {} });

for (const command of [
  doctorCommand(),
  searchCommand(),
  plantCommand(),
  ...controlCommands(),
  auditCommands(),
  reindexCommand(),
  reconcileCommand(),
  passwordCommand(),
]) {
  program.addCommand(withOneVoice(command));
}

try {
  await program.parseAsync(process.argv);
} catch (error) {
  const isHelp = error instanceof CommanderError && error.exitCode === 0;
  if (!isHelp) {
    process.stderr.write(`ops: ${failureLine(error)}\n`);
    process.exitCode = error instanceof CommandError ? error.exitCode : EXIT_NOT_DONE;
  }
}

/** Subcommands report mistakes as the program does: one line, by whoever caught them. */
function withOneVoice(command: Command): Command {
  command.exitOverride().configureOutput({ writeErr: () => {} });
  for (const child of command.commands) withOneVoice(child);
  return command;
}
