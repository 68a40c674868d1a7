import type { EventsProtocol, EventsState } from './events-model.ts';

/** Numbers of interned writes, in the order in which the primary applied them. */
export type Log = readonly number[];

export type Write =
  | { kind: 'insert'; plant: number; commit: number }
  | { kind: 'index'; entries: Entry[] }
  | { kind: 'block'; block: number }
  | { kind: 'clear'; plants: number[] }
  | { kind: 'clear of a commit'; commit: number };

/** A plant with its content, which the commit stands for. */
export type Entry = readonly [plant: number, content: number];

export type Block = { chain: number; height: number; previous: number; entries: Entry[] };

/** What one reader sees. */
export type View = {
  plants: ({ commit: number; pending: boolean } | undefined)[];
  /** The content that was indexed, by plant. */
  index: (number | undefined)[];
  /** Numbers of blocks, sorted. */
  blocks: number[];
};

export type Database = ReturnType<typeof databaseOf>;

/** Equal values get one number, so that states compare and hash by numbers. */
function interned<T>() {
  const numbers = new Map<string, number>();
  const values: T[] = [];
  return {
    of(value: T): number {
      const key = JSON.stringify(value, (_name, part) => (part === undefined ? null : part));
      const known = numbers.get(key);
      if (known !== undefined) return known;
      values.push(value);
      numbers.set(key, values.length);
      return values.length;
    },
    get: (number: number): T => values[number - 1] as T,
  };
}

/** MongoDB as far as events need it: writes, views, and the invariants over what a majority has. */
export function databaseOf(protocol: EventsProtocol) {
  const views = interned<View>();
  const writes = interned<Write>();
  const blocks = interned<Block>();
  const applications = new Map<string, number>();
  const plants = protocol.homes.map(() => undefined);
  const empty = views.of({ plants, index: [...plants], blocks: [] });

  function apply(view: number, write: number): number {
    const key = `${view},${write}`;
    const known = applications.get(key);
    if (known !== undefined) return known;
    const next = views.of(applied(views.get(view), writes.get(write)));
    applications.set(key, next);
    return next;
  }

  function applied(view: View, write: Write): View {
    const cleared = (isMeant: (plant: number, commit: number) => boolean) =>
      view.plants.map((stored, plant) =>
        stored !== undefined && isMeant(plant, stored.commit) ? { ...stored, pending: false } : stored,
      );
    switch (write.kind) {
      case 'insert':
        return { ...view, plants: view.plants.with(write.plant, { commit: write.commit, pending: true }) };
      case 'index': {
        const index = [...view.index];
        for (const [plant, content] of write.entries) index[plant] = content;
        return { ...view, index };
      }
      case 'block':
        return { ...view, blocks: [...view.blocks, write.block].sort((a, b) => a - b) };
      case 'clear':
        return { ...view, plants: cleared((plant) => write.plants.includes(plant)) };
      case 'clear of a commit':
        return { ...view, plants: cleared((_plant, commit) => commit === write.commit) };
    }
  }

  const entriesOf = (view: View): Entry[] => view.blocks.flatMap((block) => blocks.get(block).entries);

  return {
    empty,
    apply,
    block: (block: Block): number => blocks.of(block),
    blockOf: (block: number): Block => blocks.get(block),
    viewOf: (view: number): View => views.get(view),
    kindOf: (write: number): string => writes.get(write).kind,
    entriesOf,

    applied(durable: number, logs: EventsState['logs']): number {
      let view = durable;
      for (const log of logs) for (const write of log) view = apply(view, write);
      return view;
    },

    /** The logs with a write at their end; `undefined` when the majority has to catch up first. */
    write(logs: EventsState['logs'], write: Write): EventsState['logs'] | undefined {
      const isElsewhere = protocol.sharded && (write.kind === 'index' || write.kind === 'block');
      const [first, second] = logs;
      const log = isElsewhere ? second : first;
      if (log.length >= protocol.logLengthMax) return undefined;
      const longer = [...log, writes.of(write)];
      return isElsewhere ? [first, longer] : [longer, second];
    },

    isStored: (view: number, plant: number): boolean => views.get(view).plants[plant] !== undefined,

    /** What a read may answer: from the primary, and from a deposed one. */
    reads({ durable, logs, deposed }: EventsState, concern: 'majority' | 'local'): View[] {
      const primary = concern === 'majority' ? durable : this.applied(durable, logs);
      const seen = new Set([primary]);
      if (deposed !== undefined) seen.add(concern === 'majority' ? deposed.durable : deposed.applied);
      return [...seen].map(views.get);
    },

    /** Whether the unique indexes admit a block. */
    admits(view: number, number: number): boolean {
      const { chain, height, entries } = blocks.get(number);
      const others = views.get(view).blocks.map(blocks.get);
      if (protocol.uniqueHeight && others.some((other) => other.chain === chain && other.height === height)) {
        return false;
      }
      const events = new Set(others.flatMap((other) => other.entries.map(([plant]) => plant)));
      return !(protocol.uniqueEvent && entries.some(([plant]) => events.has(plant)));
    },

    /** The number of the last block of a chain, 0 without one. */
    head(view: View, chain: number): number {
      let head = 0;
      for (const number of view.blocks) {
        const block = blocks.get(number);
        if (block.chain === chain && (head === 0 || block.height > blocks.get(head).height)) head = number;
      }
      return head;
    },

    broken(durable: number, appliedView: number): string | undefined {
      const view = views.get(durable);
      const present = views.get(appliedView).plants;
      const entries = entriesOf(view);
      if (new Set(entries.map(([plant]) => plant)).size < entries.length) return 'E1: audited twice';
      const indexed = [...view.index.entries()].filter(([, content]) => content !== undefined) as Entry[];
      if ([...entries, ...indexed].some(([plant, content]) => present[plant]?.commit !== content))
        return 'E2';
      for (const [plant, stored] of view.plants.entries()) {
        if (stored === undefined || stored.pending) continue;
        const isAudited = entries.some(([event, content]) => event === plant && content === stored.commit);
        if (!isAudited || view.index[plant] !== stored.commit)
          return 'E3: cleared, and not indexed and audited';
      }
      const places = new Map<string, number>();
      for (const number of view.blocks) {
        const { chain, height } = blocks.get(number);
        if (places.has(`${chain},${height}`)) return 'the chain forks';
        places.set(`${chain},${height}`, number);
      }
      for (const number of view.blocks) {
        const { chain, height, previous } = blocks.get(number);
        if (height > 1 && places.get(`${chain},${height - 1}`) !== previous) return 'the chain is broken';
      }
      return undefined;
    },

    /** Every stored plant is indexed, audited once and no longer pending; nothing else is. */
    isSettled(durable: number): boolean {
      const view = views.get(durable);
      const audited = entriesOf(view).map(String).sort();
      const stored: string[] = [];
      for (const [plant, document] of view.plants.entries()) {
        if (document === undefined) continue;
        if (document.pending || view.index[plant] !== document.commit) return false;
        stored.push(`${plant},${document.commit}`);
      }
      return audited.join(' ') === stored.sort().join(' ');
    },
  };
}
