import { seededRandom } from '../random.ts';
import type { Row } from './row.ts';

const PAIRS = 5;
/** The second fault begins so much after the first, at most. */
const APART_MS_MAX = 1_500;

/** Row 44: any two faults at once, which the seed chooses among those that run on one mongod. */
export function pairRows(rows: readonly Row[]): Row[] {
  const pairable = rows.filter(({ isPairable }) => isPairable);
  return Array.from({ length: PAIRS }, (_, index) => {
    const letter = String.fromCharCode('a'.charCodeAt(0) + index);
    return {
      row: `44${letter}`,
      title: 'any two of the rows above at once',
      moment: 'seeded',
      fault: async (run) => {
        const random = seededRandom(`pair ${letter} ${run.random.next()}`);
        const first = random.pick(pairable);
        const second = random.pick(
          pairable.filter((row) => row !== first && !(row.plansInserts && first.plansInserts)),
        );
        run.note(`${first.row} and ${second.row}`);
        await Promise.all([
          first.fault(run, undefined),
          run.pause(random.between(0, APART_MS_MAX)).then(() => second.fault(run, undefined)),
        ]);
      },
      expectations: { slowAnswers: true },
    };
  });
}
