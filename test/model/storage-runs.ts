import type { StorageProtocol } from './storage-model.ts';

/** What is explored: the protocol at several scopes, and deviations from it that must break the invariant they name. */
export type Run<Protocol> = { name: string; breaks?: string; long?: true; deviation: Partial<Protocol> };

export const storageRuns: Run<StorageProtocol>[] = [
  { name: 'the protocol', deviation: {} },
  { name: 'the protocol, mongod holding duplicate keys back', deviation: { duplicateKeyWaits: true } },
  {
    name: 'the protocol, 3 sends and 3 inserts in flight',
    long: true,
    deviation: { sendsMax: 3, insertsInFlightMax: 3 },
  },
  { name: 'the protocol, 3 requests at once', long: true, deviation: { requestsMax: 3 } },
  { name: 'w:1 for the 200', breaks: 'S1', deviation: { writeConcern: 'w:1' } },
  { name: 'a local read to resolve', breaks: 'S1', deviation: { resolvingRead: 'local' } },
  { name: 'a duplicate key refused without reading', breaks: 'S2', deviation: { onDuplicateKey: 'refuse' } },
  {
    name: 'the same, mongod holding duplicate keys back',
    breaks: 'S2',
    deviation: { onDuplicateKey: 'refuse', duplicateKeyWaits: true },
  },
  { name: 'absent taken for not stored', breaks: 'S2', deviation: { onAbsent: 'answer 5001' } },
  {
    name: 'a write concern error taken for stored',
    breaks: 'S1',
    deviation: { onWriteConcernError: 'taken for stored' },
  },
  { name: 'the commit as the only sign of ownership', breaks: 'S1', deviation: { ownedBy: 'commit' } },
  { name: 'a new sign of ownership at each send', breaks: 'S2', deviation: { ownedBy: 'send' } },
];
