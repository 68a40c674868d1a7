import type { OperatorEntry } from '@plant-store/audit/ledger/audit-entry';
import type { User } from '../access/accounts.ts';
import type { OperatorAudit } from './operator-audit.ts';

/** What an action did, for the audit log. */
export type ActionOutcome = { action: string; affected: number; before?: string; after?: string };

/** What somebody asks for. */
export type Action = {
  name: string;
  /** The object of the action: a queue, a plant, a collection. */
  target: string;
  /** Why; empty when none was given. */
  reason: string;
  /** Why it cannot be done as asked, or not now. */
  obstacle?: { kind: 'invalid' | 'unavailable'; words: string } | undefined;
  apply: () => Promise<ActionOutcome>;
};

/** Who asks, and from where. */
export type Actor = User & { from: OperatorEntry['from'] };

/**
 * - `forbidden`, `invalid`, `unavailable`: it was refused, and nothing was done.
 * - `failed`: it was begun, and may have been done in part.
 * - `unrecorded`: it was done, and is not in the audit log.
 */
type NotDone = 'forbidden' | 'invalid' | 'unavailable' | 'failed' | 'unrecorded';

/** An action that was not done, or not recorded, in words for the person who asked. */
export class ActionError extends Error {
  override readonly name = 'ActionError';
  readonly kind: NotDone;

  constructor(kind: NotDone, words: string, cause?: unknown) {
    super(words, { cause });
    this.kind = kind;
  }
}

export type Performing = {
  audit: Pick<OperatorAudit, 'check' | 'record'>;
  count?: (action: string, outcome: OperatorEntry['outcome']) => void;
};

/**
 * Does what an operator asks for, and puts it into the audit log: done, failed, or refused and why. An action that
 * could not be recorded is not begun. A refusal that cannot be recorded is refused all the same.
 * @throws ActionError
 */
export async function perform(
  { audit, count }: Performing,
  { name, target, reason, obstacle, apply }: Action,
  { name: sub, role, from }: Actor,
): Promise<ActionOutcome> {
  const record = (entry: Pick<OperatorEntry, 'action' | 'outcome'> & Partial<OperatorEntry>) => {
    count?.(name, entry.outcome);
    return audit.record({ target, ...(reason !== '' && { reason }), who: { sub }, from, ...entry });
  };
  const refuse = async (kind: NotDone, why: string, words: string): Promise<never> => {
    // The audit log logs an entry that it cannot seal.
    await record({ action: name, outcome: 'refused', before: why }).catch(() => {});
    throw new ActionError(kind, words);
  };

  if (role !== 'operator') {
    const words = 'A viewer may see everything and change nothing: this takes the role operator.';
    await refuse('forbidden', `role ${role}`, words);
  }
  if (reason === '') {
    await refuse('invalid', 'no reason given', 'Give a reason: it becomes part of the audit log.');
  }
  if (obstacle !== undefined) await refuse(obstacle.kind, obstacle.words, obstacle.words);
  await audit.check().catch((error: Error) => {
    count?.(name, 'refused');
    const words = 'The audit log cannot be written, so nothing was done. Try again once MongoDB is back.';
    throw new ActionError('unavailable', words, error);
  });

  const outcome = await apply().catch(async (error: Error) => {
    await record({ action: name, outcome: 'failed' }).catch(() => {});
    throw new ActionError('failed', 'It failed, and may have been done in part.', error);
  });
  await record({ ...outcome, outcome: 'done' }).catch((error: Error) => {
    const words = 'It was done, and could not be put into the audit log: the log has the entry.';
    throw new ActionError('unrecorded', words, error);
  });
  return outcome;
}
