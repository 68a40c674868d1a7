import type { Creation } from '../../../services/api/src/domain/creation.ts';

/** Plants of one commit: what an API replica stores at once under load. */
export const COMMIT_PLANTS = 200;
const CREATE_MS_MAX = 10_000;

const GENERA = 'Rosa Quercus Monstera Ficus Acer Salix Iris Allium Viola Fern'.split(' ');
const SPECIES_COUNT = 97;
const TAG_COUNT = 20;
const SUBJECT_COUNT = 100;
/** One plant in so many has the rare tag. */
const RARE_EVERY = 10_000;

/** What questions are asked about: how often each occurs is known. */
export const vocabulary = {
  /** In three plants of ten. */
  common: 'garden',
  /** In one plant of ten each: the first always with the common word, the second never. */
  inGarden: 'rosa',
  outside: 'acer',
  rareTag: 'orchid house',
  tag: 'bed 7',
} as const;

/** The content of the plant with that number, from 0: names of three to four words, and a tag. */
export function contentOf(number: number): { name: string; tag: string; subject: string; request: string } {
  const genus = GENERA[number % GENERA.length] as string;
  const isCommon = number % 10 < 3;
  return {
    name: `${genus} species${number % SPECIES_COUNT} ${isCommon ? `${vocabulary.common} ` : ''}no${number}`,
    tag: number % RARE_EVERY === 0 ? vocabulary.rareTag : `bed ${number % TAG_COUNT}`,
    subject: `client-${number % SUBJECT_COUNT}`,
    request: `request-${number}`,
  };
}

export function creationOf(number: number): Creation {
  const { name, tag, subject, request } = contentOf(number);
  return {
    plant: { id: BigInt(number + 1), name, tag },
    principal: { subject },
    origin: { address: '192.0.2.7', request, requestBy: 'gateway' },
    deadline: performance.now() + CREATE_MS_MAX,
  };
}
