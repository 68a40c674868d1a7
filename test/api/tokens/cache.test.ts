import { expect, test } from 'vitest';
import { apiUnderTest } from '../../harness/api/api.ts';
import { freshId, postPlant } from '../../harness/api/post-plant.ts';
import { inSeconds, token } from '../../harness/api/tokens.ts';
import { waitFor } from '../../harness/wait-for.ts';

const strict = apiUnderTest({ AUTH_CLOCK_TOLERANCE_S: '0' });
const lenient = apiUnderTest({ AUTH_CLOCK_TOLERANCE_S: '30' });

const answerOf = async (url: string, accessToken: string) => {
  const { status, body } = await postPlant(url, { id: freshId(), name: 'a' }, { accessToken });
  return body.error ?? status;
};

test('a verified token is refused the moment it expires, remembered or not', async () => {
  const exp = inSeconds(5);
  const accessToken = token({ claims: { exp } });
  expect(await answerOf(strict.url, accessToken)).toBe(200);
  let acceptedAt = 0;
  const refusedAt = await waitFor(
    async () => {
      const sentAt = Date.now();
      const answer = await answerOf(strict.url, accessToken);
      if (answer === 200) acceptedAt = sentAt;
      return answer === 2001 && Date.now();
    },
    { withinMs: 15_000, what: 'the token is refused' },
  );
  expect(acceptedAt, 'sent and accepted after it expired').toBeLessThan(exp * 1_000);
  expect(refusedAt).toBeGreaterThanOrEqual(exp * 1_000);
});

test('clocks may differ by AUTH_CLOCK_TOLERANCE_S and no more', async () => {
  for (const claims of [{ exp: inSeconds(-25) }, { nbf: inSeconds(25) }]) {
    expect(await answerOf(lenient.url, token({ claims }))).toBe(200);
    expect(await answerOf(strict.url, token({ claims }))).toBe(2001);
  }
  for (const claims of [{ exp: inSeconds(-32) }, { nbf: inSeconds(35) }]) {
    expect(await answerOf(lenient.url, token({ claims }))).toBe(2001);
  }
});

test('what is remembered of one token lets no other pass', async () => {
  const good = token();
  expect(await answerOf(strict.url, good)).toBe(200);
  const [head, claims, signature] = good.split('.') as [string, string, string];
  const other = token({ claims: { sub: 'root' }, key: 'another secret, which is long enough too' });
  expect(await answerOf(strict.url, other)).toBe(2001);
  expect(await answerOf(strict.url, `${head}.${other.split('.')[1]}.${signature}`)).toBe(2001);
  expect(await answerOf(strict.url, `${head}.${claims}.${other.split('.')[2]}`)).toBe(2001);
});
