import { resolve } from 'node:path';
import { launch } from '../../harness/processes/launch.ts';
import { underLoadMs } from '../../harness/wait-for.ts';

/** Creates that are sent at their times, whatever becomes of those before (open loop), by a process of their own. */
export type OpenLoad = {
  url: string;
  token: string;
  /** Creates a second. */
  rate: number;
  seconds: number;
  /** In the first seconds times, offered share and goodput are not judged: it is noticed only then that too much comes. */
  settleSeconds: number;
  /** Ids run from here on. */
  firstId: number;
};

export type OpenReport = {
  /** After the first seconds, the share of the creates that were sent within 100 ms of their time: with less, the load was not offered. */
  offered: number;
  /** All answers of 200, and of 503 with 5002: those may be stored. */
  created: number;
  unknown: number;
  /** Answers of 200 a second that came after the first seconds and before the end, whenever their creates were due. */
  goodput: number;
  /** Answers: refusals with 5001, and any other kind but 200 by status and number. */
  refused: number;
  others: Record<string, number>;
  /** Answers of 503 without `Retry-After`. */
  withoutRetryAfter: number;
  /** Connections that broke with a create on its way. */
  broken: number;
  /** After the first seconds, from the time at which a create was due. */
  acceptedP50Ms: number;
  acceptedP99Ms: number;
  refusedP99Ms: number;
  refusedMaxMs: number;
  /** CPU of the generator, as a share of one core. */
  cpu: number;
};

const LAST_ANSWERS_MS_MAX = 30_000;

export async function runOpenLoad(load: OpenLoad): Promise<OpenReport> {
  const args = [resolve(import.meta.dirname, 'generator.ts'), JSON.stringify(load)];
  const timeoutMs = load.seconds * 1_000 + underLoadMs(LAST_ANSWERS_MS_MAX);
  const { code, stdout, stderr } = await launch('node', args, { timeoutMs }).ended;
  if (code !== 0) throw new Error(`the load generator ended with ${code}: ${stderr}`);
  return JSON.parse(stdout) as OpenReport;
}
