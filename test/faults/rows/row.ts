import type { State } from '../checkers/state.ts';
import type { History, Operation } from '../history/history.ts';
import type { Load, LoadOptions } from '../load/load.ts';
import type { Random } from '../random.ts';
import type { System } from '../system/system.ts';
import type { Topology } from '../system/topology.ts';

/** What a fault has at hand while its row runs. */
export type Run = {
  system: System;
  history: History;
  load: Load;
  random: Random;
  /** Whether durations are those of the matrix; else they are short. */
  isWhole: boolean;
  /** Plants that cannot be processed, and so are left out of E1 and E3. */
  poison: Set<bigint>;
  /** Tells on the terminal what is being done. */
  say: (what: string) => void;
  /** A duration: the second is used with `--whole`. */
  pause: (ms: number, wholeMs?: number) => Promise<void>;
  /** What the seed has chosen, for the report. */
  note: (text: string) => void;
  /** Records that something the row expects did not happen. */
  fail: (found: string, history?: readonly Operation[]) => void;
};

/**
 * One row of the matrix: a fault, and what is expected beside the invariants, which are checked after every row.
 * `title` and `moment` are those of the matrix, or those of a step that the row's number stands for as well.
 */
export type Row = {
  /** The number in the matrix, with a letter where a number has several forms. */
  row: string;
  title: string;
  moment: string;
  topology?: Partial<Topology>;
  load?: Partial<LoadOptions>;
  /** Injects the fault under load and ends it. Resolves when everything that was disturbed is left alone. */
  fault: (run: Run, prepared: Prepared | undefined) => Promise<void>;
  expectations?: {
    /** Creates stay 200 and quick throughout (L3). */
    undisturbed?: true;
    /** Two faults at once may make a request take longer than L1 promises for one. */
    slowAnswers?: true;
    /** No attempt may end unknown or be refused but for deliberate duplicates. */
    noFailedAttempt?: true;
    /** Asked once everything is quiet. */
    finally?: (run: Run, state: State) => void | Promise<void>;
  };
  /** The fault can happen together with another one (row 44). */
  isPairable?: true;
  /** It plans what becomes of inserts: a second such fault would replace its plan. */
  plansInserts?: true;
  /** Starts what the system needs besides, such as an issuer of tokens; its environment is added to the topology's. */
  prepare?: () => Promise<Prepared>;
};

export type Prepared = {
  api?: Readonly<Record<string, string>>;
  token?: (subject: string) => string;
  /** What the fault can do with it. */
  controls?: Readonly<Record<string, () => void>>;
  close: () => Promise<void>;
};
