/** A deliberately faulty variant of the product, and the row that has to catch it. */
export type Mutant = {
  name: string;
  /** The promise that it breaks, as the row reports it. */
  breaks: readonly string[];
  row: string;
  /** In which file which text, found there exactly once, becomes which. */
  file: string;
  text: string;
  becomes: string;
};

export const mutants: readonly Mutant[] = [
  {
    name: 'w:1',
    breaks: ['S1'],
    row: '16',
    file: 'services/api/src/storage/mongo-plants.ts',
    text: "      writeConcern: { w: 'majority', j: true },\n",
    becomes: '      writeConcern: { w: 1 },\n',
  },
  {
    name: 'no flag',
    breaks: ['E1'],
    row: '1',
    file: 'services/api/src/storage/mongo-plants.ts',
    text: '    commit,\n    pending: true,\n',
    becomes: '    commit,\n',
  },
  {
    name: 'flag cleared when published',
    breaks: ['E1'],
    row: '32',
    file: 'services/api/src/compose.ts',
    text: 'publish: publisher.publish,',
    becomes: `publish: (commit, plants, trace) => {
      publisher.publish(commit, plants, trace);
      const published = { commit: new ObjectId(commit) };
      const clear = () => mongo.db(database).collection('plants').updateMany(published, { $unset: { pending: '' } });
      setTimeout(() => void clear().catch(() => {}), 300);
    },`,
  },
  {
    name: 'completed jobs kept with constant ids',
    breaks: ['E1'],
    row: '18b',
    file: 'packages/contracts/src/creation-job.ts',
    text: '      removeOnComplete: true,\n',
    becomes: '      removeOnComplete: false,\n',
  },
  {
    name: 'reading only writeErrors',
    breaks: ['S1'],
    row: '24b',
    file: 'services/api/src/storage/mongo-plants.ts',
    text: '    const reason = String(error);\n',
    becomes: `    const reason = String(error);
    const { result } = error as { result?: InsertReply };
    if (result !== undefined) return toReport({ writeErrors: result.writeErrors ?? [] }, documents);\n`,
  },
  {
    name: 'taking MongoServerSelectionError of the resend for "not stored"',
    breaks: ['S2'],
    row: '23b',
    file: 'services/api/src/domain/commit-plants.ts',
    text: '    everSent ||= report.sent;\n',
    becomes: '    everSent = report.sent;\n',
  },
  {
    name: 'taking a failed read for "not stored"',
    breaks: ['S2'],
    row: '23',
    file: 'services/api/src/domain/commit-plants.ts',
    text: '    if (found === undefined) return [];\n',
    becomes: '    if (found === undefined) everSent = false;\n    if (found === undefined) return [];\n',
  },
  {
    name: 'coercion on',
    breaks: ['S2'],
    row: '1',
    file: 'services/api/src/http/schema-keywords.ts',
    text: 'coerceTypes: false',
    becomes: 'coerceTypes: true',
  },
  {
    name: 'audit without unique events',
    breaks: ['E1'],
    row: '9',
    file: 'packages/contracts/src/indexes.ts',
    text: "key: { 'entries.event': 1 }, unique: true }",
    becomes: "key: { 'entries.event': 1 } }",
  },
  {
    name: 'dead letters without bound',
    breaks: ['E6'],
    row: '14',
    file: 'packages/contracts/src/creation-job.ts',
    text: '  return `commit-',
    becomes: '  return Date.now() + `-commit-',
  },
  {
    name: 'clear by commit instead of by plant',
    breaks: ['E6'],
    row: '14',
    file: 'services/worker/src/jobs/mongo-pending-plants.ts',
    text: '          _id: { $in: cleared.map(({ _id }) => _id) },\n',
    becomes: '',
  },
  {
    name: 'chain head or sealed events read locally',
    breaks: ['E1'],
    row: '16c',
    file: 'packages/audit/src/mongo/mongo-audit-log.ts',
    text: "    readConcern: { level: 'majority' },\n",
    becomes: "    readConcern: { level: 'local' },\n",
  },
  {
    name: 'a relay that looks at pending flags alone',
    breaks: ['E1', 'E3'],
    row: '10b',
    file: 'services/worker/src/outbox/relay.ts',
    text: 'const retried = await retries.retryDue();',
    becomes: 'const retried = 0;',
  },
];
