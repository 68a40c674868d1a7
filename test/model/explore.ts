/** A step that a state allows: what it is called, whether it is a fault, and the state it leads to. */
export type Step<State> = { label: string; fault: boolean; next: State };

/** A protocol as a state machine. Every fault may happen at any moment, any number of times. */
export type Model<State> = {
  initial: State;
  /** Equal for equal states. */
  keyOf: (state: State) => string;
  steps: (state: State) => Iterable<Step<State>>;
  /** The invariant that a state breaks. */
  broken: (state: State) => string | undefined;
  /** Whether a state is where everything ends: nothing is under way and nothing is owed. */
  done: (state: State) => boolean;
};

export type Exploration = {
  states: number;
  steps: number;
  /** Every reachable state was seen. False when the limit was reached or an invariant broke. */
  complete: boolean;
  /** The invariant that broke; `stuck` when a state was reached from which no path without faults ends. */
  violation: string | undefined;
  /** The shortest way to the violation. */
  trace: string[];
  /** States in which everything has ended: 0 would make "never stuck" say nothing. */
  doneStates: number;
};

/**
 * Visits every state that any sequence of faults can reach, breadth first, so that a trace is a shortest one.
 * - Safety: `broken` on every reachable state.
 * - Liveness, once faults stop: from every reachable state some path without faults leads to one that is `done`
 *   (AG EF done over the steps without faults; fair scheduling then takes it, Clarke, Emerson, Sistla 1986).
 */
export function explore<State>(model: Model<State>, statesMax: number): Exploration {
  const numbers = new Map([[model.keyOf(model.initial), 0]]);
  const states = [model.initial];
  const parents = [-1];
  const labels = ['initial'];
  /** Edges without faults, as pairs of state numbers. */
  const edges: number[] = [];
  let steps = 0;
  let violation = model.broken(model.initial);
  let at = 0;

  for (; at < states.length && violation === undefined && states.length <= statesMax; at++) {
    for (const { label, fault, next } of model.steps(states[at] as State)) {
      steps++;
      const key = model.keyOf(next);
      let number = numbers.get(key);
      if (number === undefined) {
        number = states.length;
        numbers.set(key, number);
        states.push(next);
        parents.push(at);
        labels.push(label);
        violation = model.broken(next);
        if (violation !== undefined) break;
      }
      if (!fault) edges.push(at, number);
    }
  }

  const complete = violation === undefined && at === states.length;
  const isDone = complete ? states.map((state) => model.done(state)) : [];
  let end = states.length - 1;
  if (complete) {
    const stuck = firstThatCannotEnd(isDone, edges);
    if (stuck !== undefined) {
      violation = 'stuck';
      end = stuck;
    }
  }
  return {
    states: states.length,
    steps,
    complete,
    violation,
    trace: violation === undefined ? [] : traceTo(end, parents, labels),
    doneStates: isDone.filter(Boolean).length,
  };
}

/** Walks the edges backwards from the states that are done; the first state not met, in the order of discovery. */
function firstThatCannotEnd(isDone: readonly boolean[], edges: readonly number[]): number | undefined {
  const count = isDone.length;
  const starts = new Int32Array(count + 1);
  for (let edge = 1; edge < edges.length; edge += 2) {
    const to = (edges[edge] as number) + 1;
    starts[to] = (starts[to] as number) + 1;
  }
  for (let state = 0; state < count; state++) {
    starts[state + 1] = (starts[state + 1] as number) + (starts[state] as number);
  }
  const fill = starts.slice();
  const predecessors = new Int32Array(edges.length / 2);
  for (let edge = 0; edge < edges.length; edge += 2) {
    const to = edges[edge + 1] as number;
    const place = fill[to] as number;
    predecessors[place] = edges[edge] as number;
    fill[to] = place + 1;
  }

  const ends = isDone.slice();
  const open = ends.flatMap((end, state) => (end ? [state] : []));
  for (let state = open.pop(); state !== undefined; state = open.pop()) {
    for (let place = starts[state] as number; place < (starts[state + 1] as number); place++) {
      const before = predecessors[place] as number;
      if (ends[before]) continue;
      ends[before] = true;
      open.push(before);
    }
  }
  const stuck = ends.indexOf(false);
  return stuck < 0 ? undefined : stuck;
}

function traceTo(end: number, parents: readonly number[], labels: readonly string[]): string[] {
  const trace: string[] = [];
  for (let state = end; state > 0; state = parents[state] as number) trace.push(labels[state] as string);
  return trace.reverse();
}
