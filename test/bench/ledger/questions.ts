import type { Question } from '@plant-store/search/question';
import type { Db } from 'mongodb';
import { contentOf, vocabulary } from './content.ts';

export type Asked = {
  kind: string;
  question: Question;
  /** Plants of the pages that are passed over before the one that is measured. */
  skip?: number;
};

/** Every kind of question about a store of so many plants. */
export async function questions(database: Db, plants: number): Promise<Asked[]> {
  const middle = Math.floor(plants / 2);
  const stored = await database
    .collection<{ _id: bigint; commit: { toHexString: () => string }; created: Date }>('plants')
    .findOne({ _id: BigInt(middle + 1) });
  if (stored === null) throw new Error('the plant in the middle is not stored');
  const { created } = stored;
  const second = { since: created, until: new Date(created.getTime() + 1_000) };
  const { common, inGarden, outside, rareTag, tag } = vocabulary;
  return [
    { kind: 'a word that one plant has', question: { text: `no${middle}` } },
    { kind: 'a word that three plants of ten have', question: { text: common } },
    { kind: 'the beginning of that word', question: { text: common.slice(0, 4) } },
    { kind: 'two words', question: { text: `${outside} species3` } },
    { kind: 'two common words', question: { text: `${inGarden} ${common}` } },
    { kind: 'two common words that no plant has both', question: { text: `${outside} ${common}` } },
    { kind: 'three words, the last one begun', question: { text: `${inGarden} ${common} no12` } },
    { kind: 'the beginning of a name, other case and accents', question: { name: 'ÁCER Specíes1' } },
    { kind: 'a common tag', question: { tag: tag.toUpperCase() } },
    { kind: 'a rare tag', question: { tag: rareTag } },
    { kind: 'a tag in one second', question: { tag, ...second } },
    { kind: 'a common word in one second', question: { text: common, ...second } },
    { kind: 'an id', question: { id: BigInt(middle + 1) } },
    { kind: 'a request', question: { request: contentOf(middle).request } },
    { kind: 'a commit', question: { commit: stored.commit.toHexString() } },
    { kind: 'a subject, with one plant of a hundred', question: { subject: contentOf(middle).subject } },
    { kind: 'a subject and a word', question: { subject: contentOf(0).subject, text: common } },
    { kind: 'a word that no plant has', question: { text: 'zzz' } },
    { kind: 'a tag that no plant has', question: { tag: 'zzz' } },
    { kind: 'an id that no plant has', question: { id: -1n } },
    { kind: 'a request that no plant has', question: { request: 'zzz' } },
    { kind: 'a common word, far behind', question: { text: common }, skip: plants / 10 },
    { kind: 'a name, far behind', question: { name: inGarden }, skip: plants / 20 },
    { kind: 'a subject, far behind', question: { subject: contentOf(0).subject }, skip: plants / 200 },
  ];
}
