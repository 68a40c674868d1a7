import { setTimeout as pause } from 'node:timers/promises';
import { Long } from 'mongodb';
import type { Ground } from '../systems/ground.ts';
import { percentile } from './statistics.ts';

const PROBE_MS = 20;
const POLL_MS = 5;
const FIRST_ID = 2_000_000_000;

export type Lag = { p50: number; p99: number; plants: number };

/**
 * Creates a plant every 20 ms beside the load and times each from its 200 until its pending flag is gone. That is the
 * last step of processing, so the plant was searchable and audited a little earlier: the lag is never measured too small.
 */
export function startProbes(url: string, { token, database }: Ground): { stop: () => Promise<Lag> } {
  const plants = database.collection<{ _id: Long }>('plants');
  const lagsMs: number[] = [];
  const probes: Promise<void>[] = [];
  let stopped = false;
  let next = FIRST_ID;

  const probe = async (id: number) => {
    const body = JSON.stringify({ id, name: `Probe ${id}`, tag: 'bench' });
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const { status } = await fetch(`${url}/plants`, { method: 'POST', headers, body });
    const answered = performance.now();
    if (status !== 200) throw new Error(`a probe was answered with ${status}`);
    const pending = { _id: Long.fromNumber(id), pending: true };
    while ((await plants.findOne(pending, { projection: { _id: 1 } })) !== null) await pause(POLL_MS);
    lagsMs.push(performance.now() - answered);
  };
  const sending = (async () => {
    for (; !stopped; await pause(PROBE_MS)) probes.push(probe(next++));
  })();

  return {
    stop: async () => {
      stopped = true;
      await sending;
      await Promise.all(probes);
      return { p50: percentile(lagsMs, 0.5), p99: percentile(lagsMs, 0.99), plants: lagsMs.length };
    },
  };
}
