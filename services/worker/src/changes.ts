/** Limits the memory: more subjects than an operator would read about. */
const SUBJECTS_MAX = 10_000;

/**
 * Tells whether a value is new for its subject: true the first time, and whenever it differs from the last one. So a
 * failure that repeats for hours is one line in the log; metrics count every occurrence.
 */
export function createChanges(): { isNews: (subject: string, fact: string) => boolean } {
  const known = new Map<string, string>();
  return {
    isNews(subject, fact) {
      const isNews = known.get(subject) !== fact;
      // The subject that was updated least recently is forgotten first.
      known.delete(subject);
      known.set(subject, fact);
      const [oldest] = known.keys();
      if (known.size > SUBJECTS_MAX && oldest !== undefined) known.delete(oldest);
      return isNews;
    },
  };
}
