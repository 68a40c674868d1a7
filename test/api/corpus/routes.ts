import type { Case } from './case.ts';

const path = (target: string, name = target): Case => ({ name: `POST ${name}`, target, status: 200 });
const unknown = (target: string, name?: string): Case => ({
  ...path(target, name),
  status: 404,
  error: 3000,
});
const wrong = (method: string, target = '/plants'): Case => ({
  name: `${method} ${target}`,
  method,
  target,
  headers: { 'Content-Length': '0', Authorization: undefined },
  body: '',
  status: 405,
  error: 3001,
});

export const acceptedTargets: readonly Case[] = [
  path('/plants'),
  path('/plants?'),
  path('/plants?id=1&name=b'),
  path('/%70lants'),
  path('http://plants.test/plants', 'in absolute form'),
  path('HTTPS://another.test:8443/plants?x', 'in absolute form, of another host'),
];

export const unknownPaths: readonly Case[] = [
  unknown('/'),
  unknown('/plants/'),
  unknown('/plants/1'),
  unknown('//plants'),
  unknown('/PLANTS'),
  unknown('/plant'),
  unknown('/v1/plants'),
  unknown('/x/../plants'),
  unknown('/./plants'),
  unknown('/plants;v=1'),
  unknown('/plants%2f'),
  unknown('/plants%00'),
  unknown('/plants%3f'),
  unknown('/%2570lants'),
  unknown('/metrics'),
  unknown('/readyz'),
  unknown('/openapi.json'),
  unknown('/__proto__'),
  unknown(`/${'a'.repeat(8_000)}`, 'a path of 8,000 characters'),
  unknown('ftp://plants.test/plants', 'of another scheme'),
  unknown('http://plants.test', 'in absolute form without a path'),
  { ...unknown('/x'), name: 'GET /x', method: 'GET', headers: { Authorization: undefined }, body: '' },
  { ...unknown('/x'), name: 'HEAD /x', method: 'HEAD', body: '' },
  { ...unknown('*'), name: 'OPTIONS *', method: 'OPTIONS', body: '' },
  { ...unknown('/x'), name: 'POST /x without a token', headers: { Authorization: undefined } },
];

export const wrongMethods: readonly Case[] = [
  ...['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY', 'MERGE'].map(
    (method) => wrong(method),
  ),
  wrong('GET', '/plants?id=1'),
  wrong('GET', '/%70lants'),
  wrong('CONNECT', 'plants.test:443'),
];
