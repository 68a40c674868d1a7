import type { OperatorEntry } from '@plant-store/audit/ledger/audit-entry';
import type { ProcessReport } from '@plant-store/contracts/process-report';
import type { Seen } from '@plant-store/platform/redis/heartbeats';
import type { LastingFinding } from '../findings/diagnose.ts';
import type { Observation } from '../monitor/monitor.ts';
import { KEPT_MS, type Lasting, type Timeline } from './timeline.ts';

/** Without a report for this long, a process has ended or cannot reach Redis. */
const SILENT_MS = 10_000;

const OUTAGES: ReadonlySet<string> = new Set(['mongodb-unreachable', 'redis-unreachable', 'no-worker']);

export type SystemEvents = {
  /** It must be given every reading, in order. */
  observe: (observation: Observation) => void;
  /** The newest actions of operators; it may be given the same ones again. */
  acted: (actions: readonly OperatorEntry[]) => void;
};

/** Puts what happens to the system on the timeline: findings, starts and ends of processes, operators' actions. */
export function createSystemEvents({ add, lasting }: Timeline): SystemEvents {
  /** Of each process: whether it has ended. */
  let known = new Map<string, boolean>();
  let knownActions = new Set<string>();
  let silent: Lasting[] = [];
  const versions = new Map<string, string>();

  function started({ process, service, name, version }: Seen<ProcessReport>, at: number): void {
    const before = versions.get(`${service} ${name}`);
    versions.set(`${service} ${name}`, version);
    const id = `${process} started`;
    if (before === undefined || before === version) {
      add({ id, kind: 'restart', level: 'busy', text: `${name} started, version ${version}`, at });
    } else {
      const text = `${name} started with version ${version}; it was ${before}`;
      add({ id, kind: 'deploy', level: 'busy', text, at });
    }
  }

  function observeProcesses(reports: readonly Seen<ProcessReport>[], now: number): void {
    const next = new Map<string, boolean>();
    const startOf = ({ upMs, ageMs }: Seen<ProcessReport>) => now - ageMs - upMs;
    for (const report of reports.toSorted((a, b) => startOf(a) - startOf(b))) {
      const { process, service, name, version, ageMs, ended } = report;
      const isNew = !known.has(process);
      if (isNew && startOf(report) > now - KEPT_MS) started(report, startOf(report));
      else if (isNew) versions.set(`${service} ${name}`, version);
      if (ended && known.get(process) !== true) {
        const text = `${name} shut down`;
        add({ id: `${process} ended`, kind: 'restart', level: 'busy', text, at: now - ageMs });
      }
      next.set(process, ended);
    }
    known = next;
    silent = silentReplicas(reports, now);
  }

  return {
    observe({ status, findings }) {
      const now = status.at.getTime();
      // While Redis is away nothing is known of the processes: none is called silent for it, or started again after.
      if (status.queue !== undefined) observeProcesses(status.queue.reports, now);
      lasting([...findings.map(eventOf), ...silent], now);
    },
    acted(actions) {
      const next = new Set<string>();
      for (const { event, action, outcome, target, reason, who, when } of actions) {
        const id = event.toHexString();
        next.add(id);
        if (knownActions.has(id) || when.getTime() < Date.now() - KEPT_MS) continue;
        const what = outcome === 'done' ? action : `${action} (${outcome})`;
        const why = reason === undefined ? '' : `: ${reason}`;
        const level = outcome === 'done' ? 'good' : 'warn';
        add({ id, kind: 'action', level, text: `${who.sub}: ${what} ${target}${why}`, at: when.getTime() });
      }
      knownActions = next;
    },
  };
}

function eventOf({ key, id, level, headline, since }: LastingFinding): Lasting {
  const kind = OUTAGES.has(id) ? 'outage' : id === 'queue-paused' ? 'pause' : 'finding';
  return { key, kind, level, text: headline, at: since.getTime() };
}

/** Workers have findings of their own; a replica of the API that is gone shows on the timeline alone. */
function silentReplicas(reports: readonly Seen<ProcessReport>[], now: number): Lasting[] {
  const replicas = Map.groupBy(
    reports.filter(({ service }) => service === 'api'),
    ({ name }) => name,
  );
  return [...replicas].flatMap(([name, processes]): Lasting[] => {
    const latest = processes.reduce((a, b) => (b.ageMs < a.ageMs ? b : a));
    if (latest.ended || latest.ageMs <= SILENT_MS) return [];
    const text = `${name} no longer reports`;
    return [{ key: `silent ${name}`, kind: 'finding', level: 'warn', text, at: now - latest.ageMs }];
  });
}
