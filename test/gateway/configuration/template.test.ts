import { readFile } from 'node:fs/promises';
import { errorCatalogue } from '@plant-store/contracts/error-catalogue';
import { expect, test } from 'vitest';

const read = (name: string) =>
  readFile(new URL(`../../../deploy/gateway/${name}.conf.template`, import.meta.url), 'utf8');
const ownAnswers = await read('own-answers');
const template = (await read('nginx')) + ownAnswers;

/** Statuses that HTTP has for a malformed request besides the catalogue's 400 (DESIGN: "HTTP's own"). */
const httpsOwn = [400, 408, 414, 417, 421, 431];
const movedBody = '{"error":1007,"message":"this address takes HTTPS only: see Location"}';

test('every body in the template has the number, status and words of the error catalogue', () => {
  const bodies = [...template.matchAll(/return (\d+) '(\{"error".*\})';/g)].map(([, status, body]) => ({
    status: Number(status),
    body: body as string,
  }));
  expect(bodies.length).toBeGreaterThanOrEqual(14);
  for (const { status, body } of bodies.filter(({ body }) => body !== movedBody)) {
    const { error, message } = JSON.parse(body) as { error: number; message: string };
    const entry = Object.values(errorCatalogue).find((entry) => entry.error === error);
    expect(entry, body).toBeDefined();
    expect(message).toBe(entry?.message);
    expect(entry === errorCatalogue.malformedRequest ? httpsOwn : [entry?.status]).toContain(status);
  }
});

test('a create is given up within 5 s, whatever its replicas do', () => {
  const create = template.slice(template.indexOf('proxy_next_upstream error timeout;'));
  const ms = (name: string) => Number(new RegExp(`^ *${name} (\\d+)ms;`, 'm').exec(create)?.[1]);
  for (const silence of ['proxy_send_timeout', 'proxy_read_timeout'])
    expect(ms('proxy_next_upstream_timeout') + ms(silence)).toBeLessThan(5_000);
});

test('every status that nginx can give by itself has a body of ours', () => {
  // The statuses of ngx_http_special_response.c; redirects and 444 (close without an answer) aside.
  const nginxsOwn = [
    400, 402, 403, 404, 405, 406, 408, 409, 410, 411, 412, 413, 414, 415, 416, 421, 429, 494, 495, 496, 497,
    500, 501, 502, 503, 504, 505, 507,
  ];
  const mapped = [...ownAnswers.matchAll(/^error_page ([\d ]+) (?:=\d* )?[@/]/gm)].flatMap(([, codes]) =>
    (codes as string).split(' '),
  );
  expect(mapped.map(Number)).toEqual(expect.arrayContaining(nginxsOwn));
});

test('every status that leads to @refused has an answer there', () => {
  const refused = [...ownAnswers.matchAll(/^error_page ([\d ]+?) (?:=(\d+) )?@refused;/gm)];
  const statuses = refused.flatMap(([, codes, instead]) => instead ?? (codes as string).split(' '));
  const answers = [...template.matchAll(/^ {4}(\d+) (@\w+);/gm)];
  expect(statuses.length).toBeGreaterThan(0);
  expect(answers.map(([, status]) => status).sort()).toEqual(statuses.sort());
  for (const [, , name] of answers) expect(ownAnswers).toContain(`location ${name} {`);
});
