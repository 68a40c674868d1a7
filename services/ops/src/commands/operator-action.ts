import { hostname, userInfo } from 'node:os';
import { createInterface } from 'node:readline/promises';
import { within } from '@plant-store/platform/concurrency/within';
import { createOperatorAudit, type OperatorAudit } from '../controls/operator-audit.ts';
import { type Action, ActionError, type ActionOutcome, type Actor, perform } from '../controls/perform.ts';
import { CommandError } from './failures.ts';
import { printJson, printLine, shown } from './output.ts';
import type { OpenDatabase } from './system.ts';

/** Opening the audit log reads its indexes, or creates them in a new database. */
const AUDIT_READY_MS_MAX = 10_000;

/** Who acts on the command line: whoever holds the account of the database may. The audit log names the person. */
export function commandActor(): Actor {
  const instance = hostname();
  return {
    name: userInfo().username,
    role: 'operator',
    from: { address: 'command line', request: '', instance },
  };
}

/** The audit log of operators' actions. An entry that cannot be sealed is printed on standard error. */
export async function openAudit({ client, database }: OpenDatabase): Promise<OperatorAudit> {
  const audit = createOperatorAudit(client, database.databaseName, hostname(), {
    info: () => {},
    error: (fields, message) => process.stderr.write(`${JSON.stringify({ message, ...fields })}\n`),
  });
  if (await within<boolean>(AUDIT_READY_MS_MAX, audit.ready, false)) return audit;
  audit[Symbol.dispose]();
  throw new CommandError(
    'the audit log has no indexes yet, so nothing was done: start a worker, or run "npm run mongodb-setup"',
  );
}

/** Does the action and records it; a refusal becomes one line. */
export async function performed(audit: OperatorAudit, action: Action): Promise<ActionOutcome> {
  try {
    return await perform({ audit }, action, commandActor());
  } catch (error) {
    if (!(error instanceof ActionError)) throw error;
    // A command says itself what stopped it, as before it was audited.
    if (error.kind === 'failed' && error.cause instanceof CommandError) throw error.cause;
    const cause = error.cause instanceof Error ? ` (${error.cause.message})` : '';
    throw new CommandError(`${error.message}${cause}`);
  }
}

export type Confirmation = { yes?: true; json?: true };

/**
 * Shows what an action will do, and asks whether to go on.
 * @throws CommandError when the answer is no, or nobody can be asked
 */
export async function confirm(effect: string, { yes, json }: Confirmation): Promise<void> {
  if (!json) printLine(shown(effect));
  if (yes) return;
  if (!process.stdin.isTTY) {
    throw new CommandError(
      'nothing was done: this is no terminal, so add --yes to go on without being asked',
    );
  }
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await asking.question('Go on? [y/N] ');
    if (!/^y(es)?$/i.test(answer.trim())) throw new CommandError('nothing was done', 1);
  } finally {
    asking.close();
  }
}

export function printOutcome(outcome: ActionOutcome, { json }: Confirmation): void {
  if (json) {
    printJson(outcome);
    return;
  }
  const { action, affected, before, after } = outcome;
  const change = before === undefined && after === undefined ? '' : ` (${before ?? ''} → ${after ?? ''})`;
  printLine(shown(`done: ${action}, ${affected} affected${change}`));
}
