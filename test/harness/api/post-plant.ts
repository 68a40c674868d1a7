import { token } from './tokens.ts';

/** `id` is written as it stands, so that a test chooses the spelling of the number. */
export type PlantToSend = { id: bigint | string; name: string; tag?: string };

export type Answer = {
  status: number;
  headers: Headers;
  body: { name?: string; tag?: string; error?: number; message?: string };
};

export type PostOptions = { accessToken?: string; key?: string; headers?: Record<string, string> };

/** POST /plants as an ordinary client sends it. */
export async function postPlant(
  url: string,
  plant: PlantToSend,
  { accessToken = token(), key, headers = {} }: PostOptions = {},
): Promise<Answer> {
  const response = await fetch(`${url}/plants`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${accessToken}`,
      'content-type': 'application/json',
      ...(key !== undefined && { 'idempotency-key': key }),
      ...headers,
    },
    body: plantJson(plant),
  });
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Answer['body'],
  };
}

export function plantJson({ id, name, tag }: PlantToSend): string {
  const fields = [`"id":${id}`, `"name":${JSON.stringify(name)}`];
  if (tag !== undefined) fields.push(`"tag":${JSON.stringify(tag)}`);
  return `{${fields.join(',')}}`;
}

let next = BigInt(Date.now()) * 1_000_000n;

/** An id that no other test of this file has used. */
export function freshId(): bigint {
  next += 1n;
  return next;
}
