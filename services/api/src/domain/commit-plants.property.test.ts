import fc from 'fast-check';
import { expect, test } from 'vitest';
import { commitPlants } from './commit-plants.ts';
import { type Creation, type Outcome, sameContent, sameSubject } from './creation.ts';
import type { InsertReport, PlantStore, StoredPlant } from './plant-store.ts';

/**
 * The protocol against a database that does everything a replica set can do: writes that arrive late or
 * never, replies that are lost, failovers that roll back what no majority has, a deposed primary that still answers.
 * Random numbers choose the faults. When they run out, no fault happens, so that a failing case shrinks to few faults.
 */
type Document = StoredPlant & { majority: boolean };
type Documents = ReadonlyMap<bigint, Document>;

/** Deliberate mistakes in using the database, to check that the property detects them. */
type Mutant = 'local reads' | 'acknowledged by one';

class FaultyDatabase {
  primary = new Map<bigint, Document>();
  /** The data from which a deposed primary still answers reads. */
  deposed: Documents | undefined;
  /** Inserts that were sent and for whose reply nobody waits any more. */
  inFlight: { commit: string; creation: Creation }[] = [];
  readonly roll: (sides: number) => number;
  readonly mutant: Mutant | undefined;

  constructor(roll: (sides: number) => number, mutant?: Mutant) {
    this.roll = roll;
    this.mutant = mutant;
  }

  /** One event that may happen at any moment. */
  step(): void {
    const takeInFlight = () => this.inFlight.splice(this.roll(this.inFlight.length), 1)[0];
    const events: (() => void)[] = [
      () => {},
      () => this.replicate(),
      () => this.replicate(),
      () => this.failOver(),
      () => {
        this.deposed = undefined;
      },
      () => this.land(takeInFlight()),
      () => this.land(takeInFlight()),
      () => void takeInFlight(),
    ];
    events[this.roll(events.length)]?.();
  }

  replicate(): void {
    for (const document of this.primary.values()) document.majority = true;
  }

  failOver(): void {
    this.deposed = new Map(structuredClone([...this.primary]));
    for (const [id, { majority }] of this.primary) if (!majority) this.primary.delete(id);
  }

  land(write: { commit: string; creation: Creation } | undefined): void {
    if (write === undefined || this.primary.has(write.creation.plant.id)) return;
    const { plant, principal, keyHash } = write.creation;
    const document = { plant, principal, commit: write.commit, ...(keyHash !== undefined && { keyHash }) };
    this.primary.set(plant.id, { ...document, majority: false });
  }

  /** `turn` lets concurrent operations proceed in between. */
  store(turn: () => Promise<unknown>): PlantStore {
    return {
      insert: async ({ id: commit }, creations) => {
        await turn();
        const fault = this.roll(6);
        if (fault === 1) return { sent: false };
        if (fault === 2) return this.insertedAtTheDeposed(creations);

        const late = fault === 3 ? creations.filter(() => this.roll(2) === 1) : [];
        this.inFlight.push(...late.map((creation) => ({ commit, creation })));
        const occupied = new Set<bigint>();
        for (const creation of creations) {
          const { id } = creation.plant;
          if (this.primary.has(id) && this.primary.get(id)?.commit !== commit) occupied.add(id);
          else if (!late.includes(creation)) this.land({ commit, creation });
        }
        if (fault >= 3 && this.mutant !== 'acknowledged by one') return { sent: true, occupied: 'unknown' };

        // The acknowledgement: every document is still there when a majority has it.
        if (this.mutant !== 'acknowledged by one') {
          await turn();
          const lost = creations.some(
            ({ plant: { id } }) => !occupied.has(id) && this.primary.get(id)?.commit !== commit,
          );
          if (lost) return { sent: true, occupied: 'unknown' };
          for (const { plant } of creations) {
            const document = this.primary.get(plant.id);
            if (document?.commit === commit) document.majority = true;
          }
        }
        return { sent: true, occupied };
      },
      read: async (ids) => {
        await turn();
        const fault = this.roll(4);
        if (fault === 1) return undefined;
        const view: Documents = fault === 2 && this.deposed !== undefined ? this.deposed : this.primary;
        const visible = [...view].filter(
          ([id, { majority }]) => ids.includes(id) && (majority || this.mutant === 'local reads'),
        );
        return structuredClone(new Map(visible));
      },
    };
  }

  /** It detects duplicates, but no majority acknowledges what it stores. */
  insertedAtTheDeposed(creations: readonly Creation[]): InsertReport {
    const ids = creations.map(({ plant }) => plant.id);
    const allThere = this.deposed !== undefined && ids.every((id) => this.deposed?.has(id));
    return { sent: true, occupied: allThere ? new Set(ids) : 'unknown' };
  }
}

type Attempt = { commit: string; creation: Creation; outcome: Outcome };

/** The operations compete for two ids. Equal operations with a key are retries of each other. */
const operation = fc.record({
  id: fc.constantFrom(1n, 2n),
  subject: fc.constantFrom('s', 't'),
  name: fc.constantFrom('a', 'b'),
  keyHash: fc.constantFrom('k', 'l', undefined),
});
const toCreation = ({
  id,
  subject,
  name,
  keyHash,
}: typeof operation extends fc.Arbitrary<infer T> ? T : never) =>
  ({
    plant: { id, name },
    principal: { subject },
    origin: { address: '::1', request: 'r', requestBy: 'client' },
    deadline: 4_000,
    ...(keyHash !== undefined && { keyHash }),
  }) satisfies Creation;

const groups = fc.array(fc.uniqueArray(operation, { minLength: 1, maxLength: 2, selector: ({ id }) => id }), {
  minLength: 1,
  maxLength: 5,
});
const dice = fc.array(fc.nat({ max: 119 }), { maxLength: 120, size: 'max' });

function property(mutant?: Mutant) {
  return fc.asyncProperty(fc.scheduler(), groups, dice, async (scheduler, contenders, rolls) => {
    let rolled = 0;
    const database = new FaultyDatabase((sides) => (sides > 0 ? (rolls[rolled++] ?? 0) % sides : 0), mutant);
    const attempts = contenders.map(async (group, index): Promise<Attempt[]> => {
      let clock = 0;
      const store = database.store(async () => {
        await scheduler.schedule(Promise.resolve(), `commit ${index}`);
        clock += database.roll(10) * 60;
        database.step();
      });
      const commit = `commit ${index}`;
      const creations = group.map(toCreation);
      const deps = {
        store,
        newCommit: () => ({ id: commit, created: new Date(0) }),
        publish: () => {},
        now: () => clock,
      };
      const outcomes = await commitPlants(deps, creations);
      return creations.map((creation, n) => ({ commit, creation, outcome: outcomes[n] as Outcome }));
    });
    const answered = (await scheduler.waitFor(Promise.all(attempts))).flat();

    // Then the faults end: inserts in flight arrive, and what no majority has is rolled back or replicated.
    while (database.inFlight.length > 0) database.land(database.inFlight.shift());
    if (database.roll(2) === 1) database.failOver();
    database.replicate();
    for (const attempt of answered) expectTrue(attempt, database.primary.get(attempt.creation.plant.id));
  });
}

/** Compares an answer with what is stored in the end. */
function expectTrue({ commit, creation, outcome }: Attempt, stored: Document | undefined): void {
  const mine = stored?.commit === commit;
  const subject = stored !== undefined && sameSubject(stored.principal, creation.principal);
  const content = stored !== undefined && sameContent(stored.plant, creation.plant);
  const key = creation.keyHash !== undefined && stored?.keyHash === creation.keyHash;
  const truth: Record<Outcome, boolean> = {
    created: mine && subject && content,
    replayed: subject && key && content,
    'exists-identical': !mine && subject && content && !key,
    'key-reused': !mine && subject && key && !content,
    exists: !mine && stored !== undefined && !(subject && (key || content)),
    'not-stored': !mine,
    unknown: true,
  };
  expect({ outcome, true: truth[outcome], stored }).toEqual({ outcome, true: true, stored });
}

test('whatever the database does, no answer is false: no lost 200, no false 1002, no stored 5001', async () => {
  await fc.assert(property(), { numRuns: 5_000 });
});

test.each<Mutant>(['local reads', 'acknowledged by one'])(
  'and with %s there would be',
  async (mutant) => {
    const { failed } = await fc.check(property(mutant), { numRuns: 20_000 });
    expect(failed).toBe(true);
  },
  60_000,
);

test('where nothing goes wrong, exactly one of the contenders is created and nobody is left in doubt', async () => {
  await fc.assert(
    fc.asyncProperty(groups, async (contenders) => {
      const database = new FaultyDatabase(() => 0);
      const outcomes = new Map<bigint, Outcome[]>();
      for (const [index, group] of contenders.entries()) {
        const creations = group.map(toCreation);
        const deps = {
          store: database.store(async () => {}),
          newCommit: () => ({ id: `${index}`, created: new Date(0) }),
          publish: () => {},
          now: () => 0,
        };
        const answers = await commitPlants(deps, creations);
        for (const [n, { plant }] of creations.entries()) {
          outcomes.set(plant.id, [...(outcomes.get(plant.id) ?? []), answers[n] as Outcome]);
        }
      }
      for (const [first, ...later] of outcomes.values()) {
        expect(first).toBe('created');
        expect(later.filter((outcome) => ['created', 'not-stored', 'unknown'].includes(outcome))).toEqual([]);
      }
    }),
    { numRuns: 300 },
  );
});
