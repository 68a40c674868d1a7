/** The work's answer, or `late` after `ms`; what comes after that is dropped. The work itself must not reject. */
export function within<T>(ms: number, work: Promise<T>, late: T): Promise<T> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms, late);
    void work.then((value) => {
      clearTimeout(timer);
      resolve(value);
    });
  });
}
