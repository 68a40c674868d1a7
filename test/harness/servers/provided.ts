/** Where the run's servers are; what one test file is given of them says `servers.ts`. */
export type RunServers = { mongodb: string; redis: string };

/** `missing` says in one line why there are no servers, so that tests that need them are skipped. */
export type ProvidedServers = (RunServers & { missing?: never }) | { missing: string };

declare module 'vitest' {
  interface ProvidedContext {
    servers: ProvidedServers;
  }
}
