import { type Answer, SearchTimeout } from '@plant-store/search/answer';
import { type Question, QuestionError } from '@plant-store/search/question';
import { type PageRequest, searchPlants as searchFor } from '@plant-store/search/search-plants';
import { ObjectId } from 'mongodb';
import { beforeAll, describe, expect, test } from 'vitest';
import { indexedPlants, plantOf, START } from './indexed-plants.ts';

const { search, index, audited, database, add } = indexedPlants();
const indexes = { index, audited };
const commit = new ObjectId();
const longTag = (end: string) => `${'é'.repeat(300)}${end}`;

beforeAll(async () => {
  await add(
    plantOf(1, 'Rosa gallica', { tag: 'Flower', commit }),
    plantOf(2, 'rose, red', { tag: 'flower', commit }),
  );
  await add(
    plantOf(3, 'ROSÉ des Alpes', { tag: 'shrub', commit, by: { sub: 'client-2' } }),
    plantOf(4, 'Red oak', { tag: 'tree' }),
    plantOf(5, 'Roseroot red rose rosy', { tag: longTag('a') }),
  );
  await add(
    plantOf(6, '紅薔薇', { tag: longTag('b'), by: { sub: 'client-2' } }),
    plantOf(7, ''),
    plantOf(-8, 'Ωmega rose', {
      created: new Date(START),
      from: { address: 'a', request: '$ne', instance: 'i' },
    }),
  );
});

/** With more time than the product gives itself: a busy machine is no fault. */
const searchPlants: typeof searchFor = (on, question, page) =>
  searchFor(on, question, { msMax: 30_000, ...page });

const ask = async (question: Question, page?: PageRequest) =>
  (await searchPlants(indexes, question, page)).plants.map(({ id }) => Number(id));

test.each<[string, Question, number[]]>([
  ['a word', { text: 'gallica' }, [1]],
  ['a word without case and accents, exact ones first, the newest first', { text: 'rose' }, [5, 3, 2, -8]],
  ['all words', { text: 'red rose' }, [5, 2]],
  ['the beginning of the last word', { text: 'red ro' }, [5, 2]],
  ['no beginning of a word but the last', { text: 're rose' }, []],
  ['a word of the tag', { text: 'flower' }, [2, 1]],
  ['a word of a script without spaces', { text: '薔薇' }, [6]],
  ['the beginning of a name, in the order of names', { name: 'ros' }, [1, 3, 2, 5]],
  ['a name with a space in it', { name: 'rosa g' }, [1]],
  ['every name', { name: '' }, [7, 4, 1, 3, 2, 5, -8, 6]],
  ['a tag without case', { tag: 'FLOWER' }, [2, 1]],
  ['no part of a tag', { tag: 'flow' }, []],
  ['a tag longer than an index key, exactly', { tag: longTag('b') }, [6]],
  ['a tag since a time', { tag: 'flower', since: new Date(START + 2_000) }, [2]],
  ['a tag until a time', { tag: 'flower', until: new Date(START + 2_000) }, [1]],
  ['words in a time', { text: 'ros', since: new Date(START + 2_000) }, [5, 3, 2]],
  ['an id', { id: 4n }, [4]],
  ['a negative id', { id: -8n }, [-8]],
  ['an id that is not there', { id: 99n }, []],
  ['an id and what it is not', { id: 4n, tag: 'flower' }, []],
  ['a request', { request: 'request-3' }, [3]],
  ['a request that reads like an operator', { request: '$ne' }, [-8]],
  ['a commit, over several blocks', { commit: commit.toHexString().toUpperCase() }, [3, 1, 2]],
  ['a subject, the newest block first', { subject: 'client-2' }, [6, 3]],
  ['a commit of a subject', { commit: commit.toHexString(), subject: 'client-2' }, [3]],
  ['a subject and words', { subject: 'client-1', text: 'rose' }, [-8, 5, 2]],
  ['a subject and an id', { subject: 'client-1', id: 3n }, []],
  ['several conditions at once', { text: 'rose', tag: 'shrub', subject: 'client-2' }, [3]],
  ['nothing that is there', { text: 'zzz' }, []],
  ['no request that is there', { request: 'request' }, []],
])('%s finds the plants', async (_case, question, expected) => {
  expect(await ask(question)).toEqual(expected);
});

test.each<[Question, string]>([
  [{}, 'ask for an id, words'],
  [{ since: new Date() }, 'ask for an id, words'],
  [{ text: ' … ' }, 'no word'],
  [{ commit: 'abc' }, '24 hexadecimal digits'],
])('the question %j is refused with what to change', async (question, message) => {
  await expect(searchPlants(indexes, question)).rejects.toThrow(QuestionError);
  await expect(searchPlants(indexes, question)).rejects.toThrow(message);
});

test.each<Question>([{ text: 'ros' }, { name: 'ros' }, { text: 'red rose' }, { subject: 'client-1' }])(
  'pages of %j hold together what one answer does, whatever their size',
  async (question) => {
    const whole = await ask(question, { plantsMax: 100 });
    for (const plantsMax of [1, 2, 3]) {
      const paged: number[] = [];
      let after: string | undefined;
      do {
        const answer: Answer = await searchPlants(indexes, question, { plantsMax, ...(after && { after }) });
        paged.push(...answer.plants.map(({ id }) => Number(id)));
        after = answer.next;
      } while (after !== undefined);
      expect(paged).toEqual(whole);
    }
  },
);

test('a page stays where it was while newer plants arrive, and is refused for another question', async () => {
  const first = await searchPlants(indexes, { text: 'rose' }, { plantsMax: 2 });
  await add(plantOf(100, 'Rose of today', { by: { sub: 'client-3' } }));
  const after = first.next as string;
  expect(await ask({ text: 'rose' }, { plantsMax: 2, after })).toEqual([2, -8]);
  await search.deleteOne({ _id: 100n });
  await expect(searchPlants(indexes, { text: 'oak' }, { after })).rejects.toThrow(QuestionError);
  await expect(searchPlants(indexes, { text: 'rose' }, { after: 'x' })).rejects.toThrow(QuestionError);
  await expect(searchPlants(indexes, { subject: 'client-1' }, { after })).rejects.toThrow(QuestionError);
});

test.each([
  [[]],
  [[0]],
  [[0, 'w:rose', 'x', '1']],
  [[0, 'w:rose', 0, 'x']],
  [[0, 'w:rose', 1e300, '1']],
  [['x', 'y', 0]],
])('a page of other parts, %j, is refused', async (parts) => {
  const after = Buffer.from(JSON.stringify(parts)).toString('base64url');
  for (const question of [{ text: 'rose' }, { subject: 'client-1' }]) {
    await expect(searchPlants(indexes, question, { after })).rejects.toThrow(QuestionError);
  }
});

test('what takes longer than it may says so, and the next page goes on where it ended', async () => {
  // 300 of each word, newer and older ones; the only plant with both is the last that is looked at.
  const common = [...Array(600).keys()].map((place) =>
    plantOf(1_000 + place, place === 300 ? 'alder birch' : place > 300 ? 'alder' : 'birch', {
      by: { sub: 'client-3' },
    }),
  );
  await add(...common);
  let reads = 0;
  const slow: typeof index = {
    ...index,
    read: async (...args) => {
      if (++reads === 2) throw new SearchTimeout();
      return index.read(...args);
    },
  };
  const question = { text: 'alder birch' };
  const first = await searchPlants({ index: slow, audited }, question);
  expect(first).toMatchObject({ plants: [], timedOut: true });
  const second = await searchPlants({ index: slow, audited }, question, { after: first.next as string });
  expect(second).toMatchObject({ plants: [{ id: 1_300n }], timedOut: false });
  expect(second.next).toBeUndefined();
  for (const asked of [question, { text: 'alder' }, { id: 1_300n }, { subject: 'client-3' }]) {
    expect(await searchPlants(indexes, asked, { msMax: 0 })).toMatchObject({ plants: [], timedOut: true });
  }
});

test('what was found by one condition is answered when the time ends before a better one has been read', async () => {
  // Both words are common, and the plant with both is the newest: the first read finds it, and counts the other word as rarer.
  const common = [...Array(2_400).keys()].map((place) =>
    plantOf(20_000 + place, place === 2_399 ? 'hazel maple' : place < 1_300 ? 'hazel' : 'maple', {
      by: { sub: 'client-3' },
    }),
  );
  await add(...common);
  const timingOutAt = (failing: number): typeof index => {
    let reads = 0;
    return {
      ...index,
      read: async (...args) => {
        if (++reads === failing) throw new SearchTimeout();
        return index.read(...args);
      },
    };
  };
  const question = { text: 'hazel maple' };
  const first = await searchPlants({ index: timingOutAt(2), audited }, question);
  expect(first).toMatchObject({ plants: [{ id: 22_399n }], next: expect.any(String), timedOut: true });
  const second = await searchPlants(indexes, question, { after: first.next as string });
  expect(second).toEqual({ plants: [], timedOut: false });
  const other = await searchPlants({ index: timingOutAt(3), audited }, question);
  expect(other).toMatchObject({ plants: [{ id: 22_399n }], next: expect.any(String), timedOut: true });
});

test('the beginning of a word in a time is found without reading what is newer or older', async () => {
  const cedars = [...Array(2_000).keys()].map((place) =>
    plantOf(10_000 + place, place % 2 === 0 ? 'cedar' : 'cedars', { by: { sub: 'client-3' } }),
  );
  await add(...cedars);
  let read = 0;
  const counting: typeof index = {
    ...index,
    read: async (...args) => {
      const entries = await index.read(...args);
      read += entries.length;
      return entries;
    },
  };
  const timeOf = (id: number) => new Date(START + id * 1_000);
  const question = { text: 'ced', since: timeOf(11_000), until: timeOf(11_006) };
  const expected = [11_004, 11_002, 11_000, 11_005, 11_003, 11_001];
  for (const plantsMax of [20, 2, 1]) {
    read = 0;
    const found: number[] = [];
    for (let after: string | undefined, isLast = false; !isLast; ) {
      const page = { plantsMax, ...(after !== undefined && { after }) };
      const answer = await searchPlants({ index: counting, audited }, question, page);
      found.push(...answer.plants.map(({ id }) => Number(id)));
      after = answer.next;
      isLast = after === undefined;
    }
    expect(found).toEqual(expected);
    expect(read).toBeLessThan(200);
  }
});

describe('every question is answered through an index, in its order', () => {
  test.each<[string, Question, RegExp]>([
    ['words', { text: 'red ro' }, /^(?:IXSCAN|COUNT_SCAN) { terms: 1, created: -1, _id: 1 }$/],
    ['name', { name: 'ros' }, /^IXSCAN { terms: 1, created: -1, _id: 1 }$/],
    [
      'tag and time',
      { tag: 'flower', since: new Date(0), until: new Date() },
      /^IXSCAN { terms: 1, created: -1, _id: 1 }$/,
    ],
    [
      'request',
      { request: 'request-3' },
      /^IXSCAN { entries.from.request: 1, time: -1, _id: 1 }$|^IXSCAN { _id: 1 }$|^IDHACK$/,
    ],
    [
      'commit',
      { commit: commit.toHexString() },
      /^IXSCAN { entries.commit: 1, time: -1, _id: 1 }$|^IXSCAN { _id: 1 }$|^IDHACK$/,
    ],
    [
      'subject',
      { subject: 'client-1' },
      /^IXSCAN { entries.who.sub: 1, time: -1, _id: 1 }$|^IXSCAN { _id: 1 }$|^IDHACK$/,
    ],
    ['id', { id: 1n }, /^IXSCAN { _id: 1 }$|^IDHACK$/],
  ])('%s: no collection scan, no sort, no document read in vain', async (_case, question, plan) => {
    await database.command({ profile: 2 });
    await searchPlants(indexes, question);
    await database.command({ profile: 0 });
    const profile = database.collection('system.profile');
    const operations = await profile
      .find({ op: { $in: ['query', 'command'] }, planSummary: { $exists: true } })
      .toArray();
    await profile.drop();
    expect(operations.length).toBeGreaterThan(0);
    for (const operation of operations) {
      expect(operation['planSummary']).toMatch(plan);
      expect(operation['hasSortStage']).toBeUndefined();
      expect(operation['docsExamined']).toBeLessThanOrEqual(operation['nreturned'] ?? 0);
    }
  });
});
