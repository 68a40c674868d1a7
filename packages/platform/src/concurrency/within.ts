/** Returns the result of `work`, or `late` after `ms`; a later result is ignored. `work` must not reject. */
export function within<T>(ms: number, work: Promise<T>, late: T): Promise<T> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms, late);
    void work.then((value) => {
      clearTimeout(timer);
      resolve(value);
    });
  });
}
