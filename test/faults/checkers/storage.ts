import { hash } from 'node:crypto';
import type { PlantDocument } from '@plant-store/contracts/plant-document';
import { type Attempt, type History, isOk, isRefused, type Operation } from '../history/history.ts';
import type { State } from './state.ts';
import type { Violation } from './violation.ts';

/** Whether this very operation has stored the plant: its content, its subject and its key. */
function isStoredBy(operation: Operation, plant: PlantDocument | undefined): boolean {
  return (
    plant !== undefined &&
    plant.name === operation.name &&
    plant.tag === operation.tag &&
    plant.by.sub === operation.subject &&
    plant.key?.toString('hex') === hash('sha256', operation.key, 'hex')
  );
}

/** S1 to S6: what was answered, against what is stored. */
export function checkStorage(history: History, { plants }: State): Violation[] {
  const violations: Violation[] = [];
  for (const operation of history.operations) {
    const found = brokenBy(operation, plants.get(operation.id), history);
    if (found === undefined) continue;
    violations.push({ ...found, history: history.of(operation.id) });
  }
  violations.push(...checkContenders(history));
  return violations;
}

function brokenBy(
  operation: Operation,
  plant: PlantDocument | undefined,
  history: History,
): Omit<Violation, 'history'> | undefined {
  const name = `operation ${operation.number} (plant ${operation.id})`;
  const isStored = isStoredBy(operation, plant);
  if (operation.kind === 'invalid') {
    if (isOk(operation) || plant !== undefined)
      return { invariant: 'S2', found: `${name} is no plant, and was ${plant ? 'stored' : 'answered 200'}` };
    return undefined;
  }
  if (isOk(operation)) {
    if (plant === undefined) return { invariant: 'S1', found: `${name} was answered 200 and is not stored` };
    if (!isStored) return { invariant: 'S1', found: `${name} was answered 200, and another plant is stored` };
    const refused = operation.attempts.find(({ answer }) => answer.startsWith('400'));
    if (refused)
      return { invariant: 'S5', found: `${name} was answered 200, and another time ${refused.answer}` };
    const wrong = operation.attempts.find((attempt) => !isEcho(operation, attempt));
    if (wrong) return { invariant: 'S6', found: `${name} was answered ${wrong.answer}` };
  }
  if (isRefused(operation) && isStored) {
    return { invariant: 'S2', found: `${name} was refused for certain each time, and is stored` };
  }
  if (operation.kind === 'create' && operation.attempts.some(({ outcome }) => outcome === 'unknown')) {
    const verdict = operation.attempts.find(({ answer }) => answer.startsWith('400'));
    if (verdict !== undefined && isStored)
      return { invariant: 'S5', found: `${name} is stored, and its retry got ${verdict.answer}` };
    if (verdict !== undefined && !history.of(operation.id).some((rival) => isStoredBy(rival, plant)))
      return {
        invariant: 'S5',
        found: `${name}: the retry got ${verdict.answer}, and nobody's plant is stored`,
      };
    if (verdict === undefined && !isOk(operation))
      return { invariant: 'S5', found: `${name} never got a verdict, though it was sent again and again` };
  }
  return isStored || plant === undefined || history.of(operation.id).some((rival) => isStoredBy(rival, plant))
    ? undefined
    : { invariant: 'S4', found: `what is stored under ${operation.id} is what nobody has sent` };
}

/** The answer holds name and tag as they were sent, and nothing else. */
function isEcho({ name, tag }: Operation, { outcome, answer }: Attempt): boolean {
  if (outcome !== 'ok') return true;
  return answer === JSON.stringify({ name, ...(tag !== undefined && { tag }) });
}

/** S3, and what contenders are told: at most one gets 200, and who comes after it learns what stands there. */
function checkContenders(history: History): Violation[] {
  const violations: Violation[] = [];
  for (const operation of history.operations) {
    const rivals = history.of(operation.id);
    const winners = rivals.filter(isOk);
    if (winners.length > 1) {
      const numbers = winners.map(({ number }) => number).join(' and ');
      violations.push({
        invariant: 'S3',
        found: `operations ${numbers} want ${operation.id} and both got 200`,
        history: rivals,
      });
    }
    const [winner] = winners;
    if (winner === undefined || winner === operation) continue;
    const known = firstOkMs(winner);
    const wanted = wantsTheSame(operation, winner) ? 1008 : 1002;
    const wrong = operation.attempts.find(
      ({ invokedMs, outcome, answer, error }) =>
        invokedMs > known && outcome === 'refused' && answer.startsWith('400') && error !== wanted,
    );
    if (wrong !== undefined) {
      const found = `operation ${operation.number} (${operation.kind}) got ${wrong.answer}, not ${wanted}`;
      violations.push({ invariant: 'S3', found, history: rivals });
    }
  }
  return violations;
}

/** Whether two operations differ by their keys alone. Any contender may be the one that is stored. */
function wantsTheSame(one: Operation, other: Operation): boolean {
  return one.name === other.name && one.tag === other.tag && one.subject === other.subject;
}

function firstOkMs({ attempts }: Operation): number {
  return Math.min(...attempts.filter(({ outcome }) => outcome === 'ok').map(({ endedMs }) => endedMs));
}
