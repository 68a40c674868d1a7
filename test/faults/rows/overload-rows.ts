import { measureOverload, type OverloadFigures } from '../overload/measure-overload.ts';
import type { Row } from './row.ts';

/**
 * L4 speaks of twice the capacity: a refusal is quick, an accepted create takes at most so many times what it takes
 * without overload. At three times, only answers, connections and memory are judged.
 */
const L4_TIMES = 2;
const GOODPUT_MIN = 0.8;
const REFUSED_MS_MAX = 100;
const SLOWER_MAX = 3;
/** Of the API: what its container may use in docker-compose.yml. */
const RSS_MIB_MAX = 512;
/** Less, and the generator was the bottleneck: the run says nothing. */
const OFFERED_MIN = 0.95;

const overloadRow = (row: string, moment: string, gateway: boolean): Row => ({
  row,
  title: 'two and three times the capacity, open loop',
  moment,
  // The system of the row itself stays nearly idle: its proxies would be measured, too.
  topology: { replicas: 1, workers: 1 },
  load: { connections: 2, thinkMs: 100 },
  fault: async (run) => {
    const figures = await measureOverload({ gateway, isWhole: run.isWhole, times: [2, 3], say: run.say });
    run.note(summary(figures));
    for (const found of misses(figures)) run.fail(found);
  },
});

/** Row 43: straight to the API, and through the gateway. */
export const overloadRows: readonly Row[] = [
  overloadRow('43', 'straight to the API; mongod has 15 % of a core', false),
  overloadRow('43b', 'through the gateway; mongod has 15 % of a core', true),
];

function summary({ capacity, unloadedP99Ms, overloaded }: OverloadFigures): string {
  const parts = overloaded.map(
    ({ times, offered, goodput, acceptedP99Ms, refusedP99Ms, rssMiB }) =>
      `${times} times (${percent(offered)} offered): ${percent(goodput / capacity)}, accepted p99 ${Math.round(acceptedP99Ms)} ms, ` +
      `refused p99 ${Math.round(refusedP99Ms)} ms, ${rssMiB} MiB`,
  );
  return [`${Math.round(capacity)} creates/s, p99 ${Math.round(unloadedP99Ms)} ms`, ...parts].join('; ');
}

function misses({ capacity, unloadedP99Ms, overloaded, stored, processed }: OverloadFigures): string[] {
  const found: string[] = [];
  const expect = (holds: boolean, what: string) => {
    if (!holds) found.push(`L4: ${what}`);
  };
  for (const { times, ...report } of overloaded) {
    const at = `at ${times} times the capacity`;
    // A share that was sent late was sent nevertheless.
    if (times === L4_TIMES) {
      expect(report.offered >= OFFERED_MIN, `${at} only ${percent(report.offered)} of the load was offered`);
      expect(
        report.goodput >= GOODPUT_MIN * capacity,
        `${at} goodput is ${percent(report.goodput / capacity)} of the best`,
      );
      expect(
        report.acceptedP99Ms <= SLOWER_MAX * unloadedP99Ms,
        `${at} p99 of the accepted is ${Math.round(report.acceptedP99Ms)} ms, ${Math.round(unloadedP99Ms)} ms without`,
      );
      expect(
        report.refusedP99Ms <= REFUSED_MS_MAX,
        `${at} p99 of refusals is ${Math.round(report.refusedP99Ms)} ms`,
      );
    }
    expect(Object.keys(report.others).length === 0, `${at} other answers: ${JSON.stringify(report.others)}`);
    expect(report.withoutRetryAfter === 0, `${at} ${report.withoutRetryAfter} refusals had no Retry-After`);
    expect(report.broken === 0, `${at} ${report.broken} connections broke`);
    expect(report.rssMiB <= RSS_MIB_MAX, `${at} the API held ${report.rssMiB} MiB`);
  }
  expect(stored === 0, `${stored} plants are stored beside those that may be`);
  expect(processed, 'not every stored plant is indexed');
  return found;
}

function percent(share: number): string {
  return `${Math.round(100 * share)} %`;
}
