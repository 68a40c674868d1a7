import { auditedBy } from '@plant-store/contracts/indexes';
import { AUDIT_BLOCKS } from '@plant-store/contracts/plant-document';
import { type Db, ObjectId } from 'mongodb';
import type { Provenance } from '../question.ts';
import type { AuditedIndex } from '../search-provenance.ts';
import { inTime } from './mongo-timeout.ts';

/** The kind that occurs in the fewest blocks comes first. The first one asked for is looked up, the others filter. */
const KINDS = ['request', 'commit', 'subject'] as const satisfies (keyof Provenance)[];

/** The audit log as an index: a block has one key for all its entries of a commit or a subject. */
export function mongoAuditedIndex(database: Db): AuditedIndex {
  const blocks = database.collection(AUDIT_BLOCKS);

  return {
    read: (provenance, until, blocksMax, msMax) => {
      const asked = KINDS.filter((kind) => provenance[kind] !== undefined).map((kind) => ({
        kind,
        path: auditedBy[kind],
        value: kind === 'commit' ? new ObjectId(provenance[kind]) : provenance[kind],
      }));
      const [first] = asked;
      if (first === undefined) throw new Error('the question names no request, commit or subject');
      const isAsked = asked.map(({ path, value }) => ({
        $eq: [`$$entry.${path.slice('entries.'.length)}`, { $literal: value }],
      }));
      return inTime(msMax, () =>
        blocks
          .aggregate<{ block: string; time: Date; ids: bigint[] }>(
            [
              // `$eq`, so that no text is read as an operator.
              { $match: { [first.path]: { $eq: first.value }, ...(until && { time: { $lte: until } }) } },
              { $sort: { time: -1, _id: 1 } },
              { $limit: blocksMax },
              {
                $project: {
                  _id: 0,
                  block: { $toString: '$_id' },
                  time: 1,
                  ids: {
                    $map: {
                      input: {
                        $filter: {
                          input: '$entries',
                          as: 'entry',
                          cond: { $and: [...isAsked, { $eq: ['$$entry.action', 'created'] }] },
                        },
                      },
                      as: 'entry',
                      in: '$$entry.plant',
                    },
                  },
                },
              },
            ],
            { hint: first.kind, maxTimeMS: msMax },
          )
          .toArray(),
      );
    },
  };
}
