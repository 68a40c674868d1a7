/** How often the event loop is asked whether it comes late. */
const SAMPLE_MS = 50;
/** A process is busy while what comes waits for so long: before the event loop, and then among the accepted work. */
const WAIT_MS = 200;
/** Shorter is a burst, which is worked off; longer means that more comes than is worked off. */
const STANDING_MS = 1_000;
/** It is over once nothing had to be refused for so long. */
const CALM_MS = 2_000;

export type Overload = {
  /** More work has come than was worked off, for a second, and some of what came is still refused. */
  isOverloaded: () => boolean;
  /** Something was refused because of it. */
  refused: () => void;
  close: () => void;
};

/**
 * Tells a burst from overload, as CoDel does for packets (RFC 8289): a queue that soon drains does no harm, and one
 * that stands only makes everybody wait. The work in front of a saturated event loop waits in the sockets, where nobody
 * can count it, so how late the event loop is stands for its length.
 * @param waitedMs for how long the oldest accepted work has waited
 * @param onChange is called when overload begins and when it ends
 */
export function watchOverload(options: {
  waitedMs: () => number;
  now: () => number;
  onChange: (overloaded: boolean) => void;
}): Overload {
  const { waitedMs, now, onChange } = options;
  let sampledAt = now();
  let busySince: number | undefined;
  let refusedAt = Number.NEGATIVE_INFINITY;
  let overloaded = false;

  function sample(): void {
    const at = now();
    const isBusy = at - sampledAt - SAMPLE_MS + waitedMs() > WAIT_MS;
    busySince = isBusy ? (busySince ?? at) : undefined;
    sampledAt = at;
    if (!overloaded && busySince !== undefined && at - busySince >= STANDING_MS) change(true, at);
    else if (overloaded && !isBusy && at - refusedAt >= CALM_MS) change(false, at);
  }

  function change(to: boolean, at: number): void {
    overloaded = to;
    refusedAt = at;
    onChange(to);
  }

  const sampling = setInterval(sample, SAMPLE_MS).unref();
  return {
    isOverloaded: () => overloaded,
    refused: () => {
      refusedAt = now();
    },
    close: () => clearInterval(sampling),
  };
}
