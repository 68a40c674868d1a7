import type { Model } from '../explore.ts';

/**
 * A step that the code took, at some moment between two lines of a recording (both included; `to` may be beyond its
 * end). `labels`: what the model may call it; a name that ends with `*` is a beginning. Steps of one lane were taken in
 * their order. One that is not `required` may also have had no effect.
 */
export type TracedStep = {
  lane: string;
  labels: readonly string[];
  from: number;
  to: number;
  required: boolean;
};

export type Replay =
  | { allowed: true; states: number }
  /**
   * The line up to which no path leads on, the steps that were due there, and what the model allows instead; or the
   * line at which a state that the model may be in breaks an invariant (`broken`).
   */
  | { allowed: false; line: number; due: string[]; instead: string[]; broken?: string };

type Position<State> = { state: State; taken: readonly number[] };

/**
 * Whether a recorded trace is a path of the model (trace validation, as of Cirstea, Kuppe, Loillier, Merz, "Validating
 * Traces of Distributed Programs Against TLA+ Specifications", 2024): follows all states that the model may be in.
 * Steps that no observer sees (`isHidden`) may be taken at any moment. None of the states may break an invariant, and at
 * the end one of them must be the observed one (`isEnd`).
 */
export function replay<State>(
  model: Model<State>,
  steps: readonly TracedStep[],
  { isHidden, isEnd }: { isHidden: (label: string) => boolean; isEnd: (state: State) => boolean },
): Replay {
  const lanes = [...Map.groupBy(steps, ({ lane }) => lane).values()];
  const keyOf = ({ state, taken }: Position<State>) => `${model.keyOf(state)}#${taken}`;
  const lines = [...new Set(steps.flatMap(({ from, to }) => [from, to]))].sort((a, b) => a - b);
  let positions: Position<State>[] = [{ state: model.initial, taken: lanes.map(() => 0) }];
  let largest = 0;

  for (const line of [...lines, Number.POSITIVE_INFINITY]) {
    const reached = reachedAt(line);
    const broken = reached
      .map(({ state }) => model.broken(state))
      .find((invariant) => invariant !== undefined);
    if (broken !== undefined) return { allowed: false, line, due: [], instead: [], broken };
    largest = Math.max(largest, reached.length);
    const onward = reached.filter(({ taken }) =>
      lanes.every((lane, at) => !isOwed(lane, taken[at] as number, line)),
    );
    if (onward.length === 0) return refusal(line, reached);
    positions = onward;
  }
  const ends = positions.filter(({ state }) => isEnd(state));
  if (ends.length === 0)
    return { ...refusal(lines.at(-1) ?? 0, positions), due: ['the state that was observed'] };
  return { allowed: true, states: largest };

  /** Everything that can be reached by steps that may be taken at this line. */
  function reachedAt(line: number): Position<State>[] {
    const seen = new Map(positions.map((position) => [keyOf(position), position]));
    for (const position of seen.values()) {
      for (const { label, next } of model.steps(position.state)) {
        if (isHidden(label)) add({ state: next, taken: position.taken });
        for (const [at, lane] of lanes.entries()) {
          const taken = takenBy(lane, position.taken[at] as number, label, line);
          if (taken !== undefined) add({ state: next, taken: position.taken.with(at, taken) });
        }
      }
    }
    return [...seen.values()];

    function add(position: Position<State>): void {
      const key = keyOf(position);
      if (!seen.has(key)) seen.set(key, position);
    }
  }

  function refusal(line: number, reached: readonly Position<State>[]) {
    const due = lanes.flatMap((lane) => lane.filter((step) => step.required && step.to === line));
    const instead = reached.flatMap(({ state }) => [...model.steps(state)].map(({ label }) => label));
    return {
      allowed: false as const,
      line,
      due: due.map(({ labels }) => labels.join(' or ')),
      instead: [...new Set(instead)].filter((label) => !isHidden(label)),
    };
  }
}

/** Whether a lane has a required step that had to be taken by this line and is not. */
function isOwed(lane: readonly TracedStep[], taken: number, line: number): boolean {
  return lane.slice(taken).some(({ required, to }) => required && to <= line);
}

/** How many steps of a lane are behind when its next one that may be taken now has this label. */
function takenBy(
  lane: readonly TracedStep[],
  taken: number,
  label: string,
  line: number,
): number | undefined {
  for (let at = taken; at < lane.length; at++) {
    const step = lane[at] as TracedStep;
    if (step.from > line) return undefined;
    if (step.to >= line && step.labels.some((name) => isCalled(label, name))) return at + 1;
    if (step.required) return undefined;
  }
  return undefined;
}

function isCalled(label: string, name: string): boolean {
  return name.endsWith('*') ? label.startsWith(name.slice(0, -1)) : label === name;
}
