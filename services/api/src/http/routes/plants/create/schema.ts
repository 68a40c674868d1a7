import { type Static, Type } from 'typebox';

/**
 * The request and response bodies: they validate, serialise, type and document. `int64` and `wellFormed` are keywords
 * of our own (see schema-keywords.ts). Unknown fields are allowed by the interface and ignored.
 */
export const NewPlant = Type.Object(
  {
    id: Type.Unsafe<bigint>({ int64: true, description: 'Unique for ever.', examples: [42] }),
    name: Type.String({ wellFormed: true, examples: ['Monstera'] }),
    tag: Type.Optional(Type.String({ wellFormed: true, examples: ['indoor'] })),
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
