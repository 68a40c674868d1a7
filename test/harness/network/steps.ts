/** A moment of the protocol as a proxy sees it: a command on its way to the server, or the reply to it on its way back. */
export type Step = {
  /** The name of the command, as the protocol writes it. */
  command: string;
  /** The collection that it names; any when absent. */
  collection?: string;
  /** The name with which the client introduced itself (MongoDB's `appName`); any when absent. */
  client?: string;
  at: 'request' | 'reply';
};

/** One command that is held, or will be. */
export type HeldStep = {
  /** Resolves once a command has come there and is held. */
  reached: Promise<void>;
  isReached: () => boolean;
  /** Passes on what is held; commands that come later are not held any more. */
  release: () => void;
  /** Cuts the connection instead: what is held never arrives. */
  lose: () => void;
};

/** What a proxy can do with the message that it has in hand. */
export type Passage = { pass: () => void; cut: () => void };

type Met = Omit<Step, 'collection' | 'client'> & { collection: string | undefined; client: string };

export type Steps = {
  /** Holds the next command that comes to the step, and no other. */
  hold: (step: Step) => HeldStep;
  /** Is told of every message: passes it on, or keeps it for whoever holds the step. */
  meet: (met: Met, passage: Passage) => void;
};

/** Holds messages at steps of the protocol, so that a fault happens exactly there. */
export function createSteps(): Steps {
  const awaited = new Set<{ step: Step; take: (passage: Passage) => void }>();

  function hold(step: Step): HeldStep {
    const { promise: reached, resolve } = Promise.withResolvers<void>();
    let held: Passage | undefined;
    const waiting = {
      step,
      take: (passage: Passage) => {
        held = passage;
        awaited.delete(waiting);
        resolve();
      },
    };
    awaited.add(waiting);
    const end = (how: keyof Passage) => () => {
      awaited.delete(waiting);
      const passage = held;
      held = undefined;
      passage?.[how]();
    };
    let wasReached = false;
    void reached.then(() => {
      wasReached = true;
    });
    return { reached, isReached: () => wasReached, release: end('pass'), lose: end('cut') };
  }

  function meet(met: Met, passage: Passage): void {
    for (const { step, take } of awaited) {
      if (step.at !== met.at || step.command !== met.command) continue;
      if (step.collection !== undefined && step.collection !== met.collection) continue;
      if (step.client !== undefined && step.client !== met.client) continue;
      take(passage);
      return;
    }
    passage.pass();
  }

  return { hold, meet };
}
