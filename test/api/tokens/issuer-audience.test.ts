import { expect, test } from 'vitest';
import { apiUnderTest } from '../../harness/api/api.ts';
import { freshId, postPlant } from '../../harness/api/post-plant.ts';
import { token } from '../../harness/api/tokens.ts';

const iss = 'https://issuer.test';
const aud = 'https://plants.test';
const api = apiUnderTest({ AUTH_ISSUER: iss, AUTH_AUDIENCE: aud });

const answerTo = async (claims: Record<string, unknown>) => {
  const accessToken = token({ claims });
  const { status, body } = await postPlant(api.url, { id: freshId(), name: 'a' }, { accessToken });
  return body.error ?? status;
};

test.each([[{ iss, aud }], [{ iss, aud: [aud] }], [{ iss, aud: ['https://other.test', aud] }]])(
  'takes %o',
  async (claims) => {
    expect(await answerTo(claims)).toBe(200);
  },
);

test.each([
  [{}],
  [{ iss }],
  [{ aud }],
  [{ iss, aud: 'https://other.test' }],
  [{ iss, aud: [] }],
  [{ iss, aud: ['https://other.test'] }],
  [{ iss, aud: null }],
  [{ iss, aud: 7 }],
  [{ iss, aud: { 0: aud } }],
  [{ iss, aud: `${aud}/` }],
  [{ iss, aud: `${aud} https://other.test` }],
  [{ iss, aud: aud.toUpperCase() }],
  [{ iss: 'https://other.test', aud }],
  [{ iss: [iss], aud }],
  [{ iss: `${iss}/`, aud }],
  [{ iss: null, aud }],
  [{ iss: '', aud }],
])('refuses %o', async (claims) => {
  expect(await answerTo(claims)).toBe(2001);
});
