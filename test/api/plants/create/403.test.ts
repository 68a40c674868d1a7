import { expect, test } from 'vitest';
import { apiUnderTest } from '../../../harness/api/api.ts';
import { freshId } from '../../../harness/api/post-plant.ts';
import { expectRefusal } from '../../../harness/api/refusal.ts';
import { token } from '../../../harness/api/tokens.ts';
import { exchange } from '../../../harness/network/raw-http.ts';
import { render } from '../../corpus/case.ts';

const api = apiUnderTest({ AUTH_SCOPE: 'plants:write' });

const send = (scope: unknown) =>
  exchange(
    api.url,
    render({
      headers: { Authorization: `Bearer ${token({ claims: { scope } })}` },
      body: `{"id":${freshId()},"name":"a"}`,
    }),
  );

test.each(['plants:write', 'plants:read plants:write', 'plants:write plants:read'])(
  'a token with the scope "%s" may create',
  async (scope) => {
    expect((await send(scope)).status).toBe(200);
  },
);

test.each([
  undefined,
  '',
  'plants:read',
  'plants:write2',
  'xplants:write',
  'plants:write,plants:read',
  'plants:*',
  'PLANTS:WRITE',
  'plants:write\tplants:read',
  ['plants:write'],
  { 'plants:write': true },
  null,
  7,
])('2002: the scope %o is not enough', async (scope) => {
  expectRefusal(await send(scope), 403, 2002);
});
