/** More subjects than an operator would read about. */
const SUBJECTS_MAX = 10_000;

/**
 * Tells whether something about a subject is news: the first time, and whenever it differs from the last time. What is
 * repeated for hours is then one line in the log; metrics count each time.
 */
export function createChanges(): { isNews: (subject: string, fact: string) => boolean } {
  const known = new Map<string, string>();
  return {
    isNews(subject, fact) {
      const isNews = known.get(subject) !== fact;
      // The subject that was not heard of for the longest time is forgotten first.
      known.delete(subject);
      known.set(subject, fact);
      const [oldest] = known.keys();
      if (known.size > SUBJECTS_MAX && oldest !== undefined) known.delete(oldest);
      return isNews;
    },
  };
}
