import { Ajv, type ErrorObject, type KeywordDefinition } from 'ajv';

/** `int64: true`: an exact int64, which the body parser returns as `bigint`. Ajv has no type for `bigint`. */
const int64: KeywordDefinition = {
  keyword: 'int64',
  schemaType: 'boolean',
  validate: (_schema: boolean, value: unknown) => typeof value === 'bigint',
  errors: false,
};

/** `wellFormed: true`: Unicode text, without lone surrogates, which UTF-8 and so the database cannot hold. */
const wellFormed: KeywordDefinition = {
  keyword: 'wellFormed',
  type: 'string',
  schemaType: 'boolean',
  validate: (_schema: boolean, value: string) => value.isWellFormed(),
  errors: false,
};

/** Validates the body as it was sent and changes nothing: no coercion, no defaults, no removal. */
export function strictAjv(): Ajv {
  return new Ajv({
    strict: true,
    coerceTypes: false,
    useDefaults: false,
    removeAdditional: false,
    keywords: [int64, wellFormed],
  });
}

/** What is wrong with a plant, naming the field and the rule. */
export function describeViolation(violation: ErrorObject): string {
  const field = violation.instancePath === '' ? 'the body' : violation.instancePath.slice(1);
  switch (violation.keyword) {
    case 'required':
      return `${violation.params['missingProperty']} is required`;
    case 'int64':
      return `${field} must be an integer from -9223372036854775808 to 9223372036854775807, as a JSON number`;
    case 'wellFormed':
      return `${field} must be Unicode text without lone surrogates`;
    case 'type':
      return field === 'the body'
        ? 'the body must be a JSON object'
        : `${field} must be a ${violation.params['type']}`;
    default:
      return `${field} ${violation.message ?? 'is not valid'}`;
  }
}
