import { expect, test } from 'vitest';
import { apiUnderTest } from '../../harness/api/api.ts';
import { freshId, plantJson, postPlant } from '../../harness/api/post-plant.ts';
import { rawConnection } from '../../harness/network/raw-http.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { render } from '../corpus/case.ts';

const api = apiUnderTest();

const whole = () => render({ body: plantJson({ id: freshId(), name: 'a' }) }).toString('latin1');
const bodyOf = (request: string) => request.indexOf('\r\n\r\n') + 4;

test.each([
  ['before a byte', () => 0],
  ['in the head', () => 40],
  ['before the body', bodyOf],
  ['in the body', (request: string) => bodyOf(request) + 5],
])('a client that crashes %s harms nobody, and is no defect', async (_, cut) => {
  const crashing = await Promise.all(Array.from({ length: 20 }, () => rawConnection(api.url)));
  for (const connection of crashing) {
    const request = whole();
    connection.send(request.slice(0, cut(request)));
    connection.reset();
  }
  await Promise.all(crashing.map(({ closed }) => closed));
  expect((await postPlant(api.url, { id: freshId(), name: 'next' })).status).toBe(200);
});

test('a client that crashes before its answer finds its plant stored when it asks again', async () => {
  const id = freshId();
  const key = 'asked-twice';
  const connection = await rawConnection(api.url);
  connection.send(render({ headers: { 'Idempotency-Key': key }, body: plantJson({ id, name: 'a' }) }));
  await waitFor(() => api.plants.countDocuments({ _id: id }), {
    withinMs: 5_000,
    what: 'the plant is stored',
  });
  connection.reset();
  await connection.closed;

  const again = await postPlant(api.url, { id, name: 'a' }, { key });
  expect(again).toMatchObject({ status: 200, body: { name: 'a' } });
  expect(again.headers.get('idempotency-replayed')).toBe('true');
});
