import { CREATIONS_QUEUE } from '@plant-store/contracts/creation-job';
import type { ActionOutcome } from './perform.ts';

/** Controls of the queue, then those of plants, which the pages about plants offer. */
export const QUEUE_CONTROLS = ['pause', 'resume', 'retry', 'drop', 'lift-limits'] as const;
const PLANT_CONTROLS = ['quarantine', 'release'] as const;
export const CONTROLS = [...QUEUE_CONTROLS, ...PLANT_CONTROLS] as const;

export const PAUSE_MINUTES_MAX = 24 * 60;
export const PAUSE_MINUTES_DEFAULT = 15;

export const REDIS_AWAY = 'Redis is unreachable: the queue cannot be changed until it is back.';

export type QueueControlName = (typeof QUEUE_CONTROLS)[number];
export type PlantControlName = (typeof PLANT_CONTROLS)[number];
export type ControlName = QueueControlName | PlantControlName;

/** What the person asked for, as the form or the command carries it. */
export type ControlInput = {
  by: string;
  reason: string;
  /** Of a pause. */
  minutes: number;
  /**
   * Of a retry: only failed jobs whose reason contains this; empty for all. Of a quarantine: plants with this reason.
   * Of a release: plants that were quarantined for this reason.
   */
  matching: string;
  /** The one plant meant, in place of `matching`. */
  plant?: bigint;
};

/** What a control would do now. */
export type ControlPlan = { effect: string; affected: number };

export type Control = {
  title: string;
  /** Whether it changes the queue, and is therefore refused while Redis is away. */
  needsRedis: boolean;
  /** The page that shows what became of it; the controls' own by default. */
  page?: string;
  plan: (input: ControlInput) => Promise<ControlPlan>;
  apply: (input: ControlInput) => Promise<ActionOutcome>;
};

/** The object of an action, as the audit log names it. */
export function targetOf({ plant }: ControlInput): string {
  return plant === undefined ? CREATIONS_QUEUE : `plant ${plant}`;
}
