/** How much of a name is indexed for searches by its beginning, in UTF-16 units. */
const FOLDED_LENGTH_MAX = 256;
/** Words kept of one plant, and units kept of one word: bounds on the index keys that one plant can cost. */
const WORDS_MAX = 200;
const WORD_LENGTH_MAX = 64;

/** How much of one text is split into words, in UTF-16 units: it limits the time that one plant can cost. */
const SEARCHED_LENGTH_MAX = 4_096;

const PLAIN = /^[\x20-\x7e]*$/;
/** Normalising is quadratic in the length of such a sequence; real text has none (UAX #15, Stream-Safe Text). */
const ENDLESS_MARKS = /(\p{M}{30})\p{M}+/gu;
const ACCENTS = /[\u0300-\u036f]+/g;
const WORD = /[\p{L}\p{M}\p{N}]+/gu;
/** Scripts that write words without a space between them. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const segmenter = new Intl.Segmenter('und', { granularity: 'word' });

/**
 * The text without case and accents; applied to stored text and to searches alike. Only combining diacritical marks are
 * dropped (U+0300–U+036F): in other scripts such signs are letters. The text is converted to upper case first, since
 * only then ß equals ss, and the Greek final sigma equals any other sigma.
 */
export function fold(text: string): string {
  if (PLAIN.test(text)) return text.toLowerCase();
  const bare = text.replace(ENDLESS_MARKS, '$1').normalize('NFKD').replace(ACCENTS, '').normalize('NFKC');
  return bare.toUpperCase().toLowerCase().replaceAll('ς', 'σ');
}

/** The folded beginning of a name. */
export function foldedName(name: string): string {
  return wellFormedStart(fold(name.slice(0, FOLDED_LENGTH_MAX)), FOLDED_LENGTH_MAX);
}

/** The distinct folded words of the texts, in the order they stand. */
export function words(...texts: readonly (string | undefined)[]): string[] {
  const distinct = new Set<string>();
  for (const text of texts) {
    if (text === undefined) continue;
    for (const word of wordsOf(fold(wellFormedStart(text, SEARCHED_LENGTH_MAX)))) {
      if (distinct.size >= WORDS_MAX) return [...distinct];
      distinct.add(wellFormedStart(word, WORD_LENGTH_MAX));
    }
  }
  return [...distinct];
}

function wordsOf(folded: string): readonly string[] {
  const runs = folded.match(WORD) ?? [];
  return UNSPACED.test(folded) ? runs.flatMap(segments) : runs;
}

function segments(run: string): string[] {
  if (!UNSPACED.test(run)) return [run];
  return [...segmenter.segment(run)].filter(({ isWordLike }) => isWordLike).map(({ segment }) => segment);
}

/** Cut at a length, but never through a surrogate pair: half of one is no Unicode text. */
function wellFormedStart(text: string, lengthMax: number): string {
  const start = text.slice(0, lengthMax);
  return start.isWellFormed() ? start : start.slice(0, -1);
}
