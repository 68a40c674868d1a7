/** Reads again when the last answer is older than `ms`; errors are not cached. */
export function slowly<T>(ms: number, read: () => Promise<T>): () => Promise<T> {
  let latest: { value: T; readAt: number } | undefined;
  return async () => {
    if (latest === undefined || performance.now() - latest.readAt > ms) {
      const readAt = performance.now();
      latest = { value: await read(), readAt };
    }
    return latest.value;
  };
}
