import { type Static, Type } from 'typebox';

/**
 * The request and response bodies: they validate, serialise, type and document. `int64` and `wellFormed` are keywords
 * of our own (see schema-keywords.ts). Unknown fields are allowed by the interface and ignored.
 */
export const NewPlant = Type.Object(
  {
    id: Type.Unsafe<bigint>({
      int64: true,
      description:
        'Unique for ever. Judged by its exact value, so any spelling of an integer will do (`1`, `1.0`, `1e3`).',
      examples: [42],
    }),
    name: Type.String({
      wellFormed: true,
      description: 'Any Unicode text, kept as it was sent.',
      examples: ['Monstera'],
    }),
    tag: Type.Optional(
      Type.String({
        wellFormed: true,
        description: 'Any Unicode text, kept as it was sent. An absent tag differs from an empty one.',
        examples: ['indoor'],
      }),
    ),
  },
  { $id: 'NewPlant', title: 'NewPlant' },
);

export const PlantBody = Type.Object(
  {
    name: Type.String({ examples: ['Monstera'] }),
    tag: Type.Optional(Type.String({ examples: ['indoor'] })),
  },
  { $id: 'Plant', title: 'Plant' },
);

export type NewPlant = Static<typeof NewPlant>;
export type PlantBody = Static<typeof PlantBody>;
