import { MongoBulkWriteError, MongoNetworkError, MongoServerError, MongoServerSelectionError } from 'mongodb';
import { expect, test } from 'vitest';
import { isDatabaseAway } from './mongo-failures.ts';

/** As the driver's insertMany throws it: the cause wrapped, beside a result without any write error. */
function wrapped(cause: Error): MongoBulkWriteError {
  const result = {
    getWriteErrorCount: () => 0,
    getWriteErrors: () => [],
    getWriteConcernError: () => undefined,
  };
  return new MongoBulkWriteError(cause as never, result as never);
}

test.each([
  ['a lost connection', new MongoNetworkError('connection 1 closed')],
  ['a lost connection, wrapped by insertMany', wrapped(new MongoNetworkError('connection 1 closed'))],
  ['no server', new MongoServerSelectionError('none', {} as never)],
  ['a server that steps down', new MongoServerError({ message: 'stepping down', code: 11_602 })],
])('%s means that the same will do later', (_case, error) => {
  expect(isDatabaseAway(error)).toBe(true);
});

test.each([
  ['a refused document', new MongoServerError({ message: 'bad value', code: 2 })],
  [
    'a refused document, wrapped by insertMany',
    wrapped(new MongoServerError({ message: 'bad value', code: 2 })),
  ],
  ['a defect', new TypeError('undefined is not a function')],
])('%s does not', (_case, error) => {
  expect(isDatabaseAway(error)).toBe(false);
});
