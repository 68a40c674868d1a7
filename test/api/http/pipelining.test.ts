import { expect, test } from 'vitest';
import { apiUnderTest } from '../../harness/api/api.ts';
import { freshId, plantJson } from '../../harness/api/post-plant.ts';
import { expectRefusal } from '../../harness/api/refusal.ts';
import { rawConnection } from '../../harness/network/raw-http.ts';
import { type RequestParts, render } from '../corpus/case.ts';
import { inChunks } from '../corpus/chunked.ts';

const api = apiUnderTest();

/** Sends the requests in one write, as a client does that does not wait for answers. */
async function pipelined(...requests: readonly (string | RequestParts)[]) {
  const connection = await rawConnection(api.url);
  connection.send(
    Buffer.concat(
      requests.map((request) => (typeof request === 'string' ? Buffer.from(request) : render(request))),
    ),
  );
  return connection;
}

test('requests sent without waiting are answered in their order', async () => {
  const names = Array.from({ length: 20 }, (_, n) => `plant ${n}`);
  await using connection = await pipelined(
    ...names.map((name) => ({ body: plantJson({ id: freshId(), name }) })),
  );
  for (const name of names) expect(JSON.parse((await connection.answer()).body)).toEqual({ name });
});

test.each([
  ['bytes that are no HTTP', '\0\0\0\r\n\r\n', 400, 1007],
  ['CONNECT', 'CONNECT plants.test:443 HTTP/1.1\r\nHost: plants.test\r\n\r\n', 405, 3001],
  ['an unknown expectation', { headers: { Expect: 'a-miracle' } }, 417, 1007],
  ['a head that is too large', { headers: { 'X-Note': 'a'.repeat(17_000) } }, 431, 1007],
  ['a broken body', { edit: inChunks(() => 'xyz\r\n') }, 400, 1007],
  ['a refused body', { body: '{' }, 400, 1000],
] as const)(
  '%s behind a good request is refused behind its 200, never in front of it',
  async (_, bad, status, error) => {
    const id = freshId();
    await using connection = await pipelined({ body: plantJson({ id, name: 'first' }) }, {}, bad);
    expect(await connection.answer()).toMatchObject({ status: 200, body: '{"name":"first"}' });
    expect(await connection.answer()).toMatchObject({ status: 200 });
    expectRefusal(await connection.answer(), status, error);
    expect(await connection.ended()).toBe('');
    expect(await api.plants.countDocuments({ _id: id })).toBe(1);
  },
);

test('a body that breaks after its request was refused gets no second answer', async () => {
  await using connection = await rawConnection(api.url);
  connection.send(render({ headers: { Authorization: undefined }, edit: inChunks(() => '1\r\n{\r\n') }));
  expectRefusal(await connection.answer(), 401, 2000);
  connection.send('xyz\r\n');
  expect(await connection.ended()).toBe('');
});
