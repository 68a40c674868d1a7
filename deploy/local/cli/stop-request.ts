const PARENT_POLL_MS = 500;
/** npm forwards Ctrl-C, so one Ctrl-C arrives twice within this time; a second Ctrl-C arrives later. */
const SECOND_MS_MIN = 1_000;

/**
 * Resolves to the reason when the system shall stop: Ctrl-C, SIGTERM, a closed terminal, or the end of the npm that
 * started it (a signal to npm's shell ends the shell alone). A second signal, later, ends everything at once.
 */
export function stopRequest(): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let first: number | undefined;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (first !== undefined && performance.now() - first > SECOND_MS_MIN) process.exit(1);
      first ??= performance.now();
      resolve(signal === 'SIGINT' ? 'Ctrl-C' : signal);
    });
  }
  if (process.env['npm_lifecycle_event'] !== undefined) {
    const parent = process.ppid;
    const poll = setInterval(() => {
      if (process.ppid !== parent) resolve('npm ended');
    }, PARENT_POLL_MS);
    poll.unref();
  }
  return promise;
}
