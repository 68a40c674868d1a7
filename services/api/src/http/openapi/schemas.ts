import type { ErrorBody } from '@plant-store/contracts/error-catalogue';
import type { oas31 } from 'openapi3-ts';
import { type TSchema, Type } from 'typebox';
import { NewPlant, PlantBody } from '../routes/plants/create/schema.ts';

const errorFields = {
  error: Type.Integer({
    format: 'int32',
    description:
      'What happened, as a number that never gets a second meaning. Numbers may be added: judge one you do not know ' +
      'by the status.',
    examples: [1001],
  }),
  message: Type.String({
    description:
      'What to change, naming the field and the rule, for people to read. Its wording may change: branch on `error`.',
    examples: ['name is required'],
  }),
} satisfies Record<keyof ErrorBody, TSchema>;

/** The bodies, under the names from which clients generate their types. */
export const schemas: Record<string, oas31.SchemaObject> = {
  NewPlant: documented(NewPlant),
  Plant: documented(PlantBody),
  Error: documented(Type.Object(errorFields, { title: 'Error' })),
};

/**
 * Converts a validating schema to OpenAPI. The keyword `int64` becomes `format: int64`; bounds are left out, since most
 * JSON parsers would round them. `wellFormed` is dropped, since OpenAPI has no keyword for it.
 */
function documented(schema: TSchema): oas31.SchemaObject {
  return JSON.parse(JSON.stringify(schema), (_key, value) => {
    if (value?.int64 !== true && value?.type === undefined) return value;
    const { int64, wellFormed, $id, type, ...rest } = value;
    return int64 === true ? { type: 'integer', format: 'int64', ...rest } : { type, ...rest };
  });
}
