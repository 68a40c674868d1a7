import type { MongoClient, TopologyDescriptionChangedEvent } from 'mongodb';

export type PrimaryWatch = Disposable & {
  /** Whether the driver sees a primary. It asks every member once a second, so asking here costs nothing. */
  seen: () => boolean;
};

/** @param onChange is called when a primary is found or lost, not for the state at the start, which is "none yet" */
export function watchPrimary(client: MongoClient, onChange: (seen: boolean) => void): PrimaryWatch {
  let seen = false;
  const look = ({ newDescription }: TopologyDescriptionChangedEvent) => {
    const writable = [...newDescription.servers.values()].some(({ isWritable }) => isWritable);
    if (writable === seen) return;
    seen = writable;
    onChange(seen);
  };
  client.on('topologyDescriptionChanged', look);
  return {
    seen: () => seen,
    [Symbol.dispose]: () => void client.off('topologyDescriptionChanged', look),
  };
}
