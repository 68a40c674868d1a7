import { parentAmong, type Tracing } from '@plant-store/platform/tracing/tracing';
import { type CommitDeps, commitPlants } from '../domain/commit-plants.ts';
import type { Creation, Outcome } from '../domain/creation.ts';

/**
 * `commitPlants` as a step of a trace. It belongs to the trace of the first recorded request and is linked with the requests of
 * all other plants, in both directions, so that each trace leads to the commit. What comes after the commit continues
 * its step.
 */
export function tracedCommits(
  tracing: Tracing,
  deps: CommitDeps,
): (group: readonly Creation[]) => Promise<Outcome[]> {
  return async (group) => {
    const { parent, others } = parentAmong(group.flatMap(({ traceparent }) => traceparent ?? []));
    const span = tracing.start('commit', {
      kind: 'client',
      parent,
      links: others,
      attributes: {
        'db.system.name': 'mongodb',
        'db.collection.name': 'plants',
        'db.operation.name': 'insert',
        'db.operation.batch.size': group.length,
      },
    });
    for (const request of others) tracing.link(request, span.traceparent);

    const newCommit = () => {
      const commit = deps.newCommit();
      span.set({ 'plants.commit': commit.id });
      return commit;
    };
    try {
      const { traceparent } = span;
      const outcomes = await commitPlants(
        { ...deps, newCommit },
        group.map((creation) => ({ ...creation, traceparent })),
      );
      const failed = outcomes.filter((outcome) => outcome === 'unknown' || outcome === 'not-stored').length;
      span.end(failed > 0 ? `${failed} of ${group.length} plants are not known to be stored` : undefined);
      return outcomes;
    } catch (error) {
      span.end(error);
      throw error;
    }
  };
}
