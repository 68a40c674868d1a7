import { Presets, SingleBar } from 'cli-progress';

/** Without a terminal a line now and then is enough. */
const LINE_MS = 10_000;

export type Progress = Disposable & {
  /** Several phases follow one another, each with its own total. */
  at: (phase: string, done: number, total: number) => void;
};

/** A progress bar on standard error, so that standard output holds the answer alone. */
export function createProgress(): Progress {
  return process.stderr.isTTY ? bar() : lines();
}

function bar(): Progress {
  const single = new SingleBar(
    { format: '{phase} {bar} {percentage} % · {value} of {total} · {eta_formatted} left', hideCursor: true },
    Presets.shades_classic,
  );
  let current: string | undefined;
  return {
    at(phase, done, total) {
      if (phase !== current) {
        if (current !== undefined) single.stop();
        single.start(total, done, { phase: phase.padEnd(8) });
        current = phase;
      }
      single.setTotal(Math.max(total, done));
      single.update(done);
    },
    [Symbol.dispose]: () => single.stop(),
  };
}

function lines(): Progress {
  let last = performance.now();
  return {
    at(phase, done, total) {
      if (performance.now() - last < LINE_MS) return;
      last = performance.now();
      process.stderr.write(`${phase}: ${done} of ${total}\n`);
    },
    [Symbol.dispose]: () => {},
  };
}
