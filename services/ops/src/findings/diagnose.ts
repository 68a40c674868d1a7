import type { SystemStatus } from '../status/status.ts';
import { databaseRules } from './database-findings.ts';
import type { Finding, Rule } from './finding.ts';
import { queueRules } from './queue-findings.ts';
import { redisRules } from './redis-findings.ts';
import { workerRules } from './worker-findings.ts';

/** A finding that has lasted: since when, by this machine's clock. */
export type LastingFinding = Finding & { id: string; key: string; since: Date };

/** Findings that cause others come first. */
const rules: readonly Rule[] = [...databaseRules, ...redisRules, ...workerRules, ...queueRules];

export const FINDING_IDS: readonly string[] = rules.map(({ id }) => id);

/** A finding in one reading, however short it has lasted. */
export type FindingNow = Finding & { id: string };

/** What one reading shows, the gravest first; without memory, so also what is gone a moment later. */
export function findingsNow(status: SystemStatus): FindingNow[] {
  return rules
    .flatMap(({ id, find }) => find(status).map((finding) => ({ ...finding, id })))
    .sort((a, b) => rank(a) - rank(b));
}

/**
 * Remembers since when each finding has lasted, and returns all present ones, the gravest first; none hides another.
 * It must be given every reading, in order.
 */
export function createDiagnosis(): (status: SystemStatus) => LastingFinding[] {
  let firstSeen = new Map<string, number>();
  /** Of each rule that needs something: when it was last missing. */
  const lastMissing = new Map<string, number>();

  return (status) => {
    const at = status.at.getTime();
    const seen = new Map<string, number>();
    const standing: LastingFinding[] = [];
    for (const { id, find, needs, holdMs = 0 } of rules) {
      if (needs?.possible(status) === false) lastMissing.set(id, at);
      const possibleSince = lastMissing.get(id) ?? Number.NEGATIVE_INFINITY;
      for (const finding of find(status)) {
        const key = [id, finding.subject].filter(Boolean).join(':');
        const first = firstSeen.get(key) ?? at;
        seen.set(key, first);
        if (at - first < holdMs || at - possibleSince < (needs?.ms ?? 0)) continue;
        standing.push({
          ...finding,
          id,
          key,
          since: new Date(Math.max(possibleSince, Math.min(first, at - (finding.lastedMs ?? 0)))),
        });
      }
    }
    firstSeen = seen;
    return standing.sort((a, b) => rank(a) - rank(b));
  };
}

function rank({ level }: Finding): number {
  return level === 'bad' ? 0 : 1;
}
