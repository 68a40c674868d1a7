import type { History, Operation } from '../history/history.ts';
import type { Random } from '../random.ts';

export type Mix = {
  /** Part of all requests that are deliberate duplicates. */
  duplicates: number;
  /** Part of all requests that are no plant. */
  invalid: number;
};

const SUBJECTS = ['gardener', 'neighbour'] as const;
/** Duplicates want the id of one of so many operations before. */
const RECENT = 60;
/** Text that a careless layer would change: a quote, an accent, an emoji, NUL. */
const EXOTIC = ' "Ünï\u0000cødé 🌿';

const otherSubject = (subject: string) =>
  SUBJECTS.find((other) => other !== subject) as (typeof SUBJECTS)[number];

/**
 * Makes the operations of a load: mostly creates of new plants, each with a name of its own, so that whatever is found
 * in the database tells which operation has stored it.
 */
export function operations(history: History, random: Random, mix: Mix) {
  let next = 0n;
  /** Past 2^53, where doubles round, and with a sign now and then. */
  const first = 9_007_199_254_740_993n + BigInt(random.between(0, 1_000_000)) * 1_000_000n;

  function create(): Operation {
    next += 1n;
    const id = random.chance(0.1) ? -(first + next) : random.chance(0.1) ? next : first + next;
    const name = `plant ${history.operations.length}${random.chance(0.05) ? EXOTIC : ''}`;
    return history.add({
      kind: 'create',
      id,
      spelling: random.chance(0.05) ? `${id}.0` : String(id),
      name,
      ...(random.chance(0.5) && { tag: random.pick(['indoor', 'outdoor', '']) }),
      key: `key-${history.operations.length}`,
      subject: random.chance(0.9) ? SUBJECTS[0] : SUBJECTS[1],
    });
  }

  /** The same operation again, or one that differs from it in one respect. */
  function duplicate(): Operation {
    const recent = history.operations.slice(-RECENT).filter(({ kind }) => kind === 'create');
    if (recent.length === 0) return create();
    const of = random.pick(recent);
    const kind = random.pick(['same', 'other content', 'other key', 'other subject'] as const);
    if (kind === 'same') return of;
    const subject = otherSubject(of.subject);
    // Of the other subject with the same key there is one operation; to send it again is a retry.
    const sent = history.of(of.id).find((rival) => rival.key === of.key && rival.subject === subject);
    if (kind === 'other subject' && sent !== undefined) return sent;
    const { number: _number, attempts: _attempts, ...same } = of;
    const key = `key-${history.operations.length}`;
    return history.add({
      ...same,
      kind,
      rival: of.number,
      ...(kind === 'other content' && { name: `plant ${history.operations.length}`, key }),
      ...(kind === 'other key' && { key }),
      ...(kind === 'other subject' && { subject }),
    });
  }

  /** An id or a name that coercion would turn into what it should be. */
  function invalid(): Operation {
    next += 1n;
    const id = first + next;
    const name = `plant ${history.operations.length}`;
    const key = `key-${history.operations.length}`;
    const body = random.pick([`{"id":"${id}","name":"${name}"}`, `{"id":${id},"name":7}`]);
    return history.add({ kind: 'invalid', id, spelling: String(id), name, key, subject: SUBJECTS[0], body });
  }

  return {
    create,
    next(): Operation {
      if (random.chance(mix.duplicates)) return duplicate();
      if (random.chance(mix.invalid)) return invalid();
      return create();
    },
  };
}
