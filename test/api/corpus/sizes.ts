import { freshId } from '../../harness/api/post-plant.ts';
import type { Case } from './case.ts';
import { inChunks } from './chunked.ts';

const BODY_BYTES_MAX = 65_536;

const plantOf = (bytes: number) => Buffer.from(`{"id":${freshId()},"name":"a"}`.padEnd(bytes));

export const acceptedSizes: readonly Case[] = [
  { name: '65,536 bytes', body: plantOf(BODY_BYTES_MAX), status: 200 },
  { name: '65,536 bytes in chunks', body: plantOf(BODY_BYTES_MAX), edit: inChunks(), status: 200 },
  {
    name: 'a chunk a byte',
    edit: inChunks((body) => `${[...body].map((byte) => `1\r\n${byte}\r\n`).join('')}0\r\n\r\n`),
    status: 200,
  },
];

const refused = { status: 400, error: 1004, message: /65536 bytes/ };

export const refusedSizes: readonly Case[] = [
  { name: '65,537 bytes', body: plantOf(BODY_BYTES_MAX + 1), ...refused },
  { name: '65,537 bytes in chunks', body: plantOf(BODY_BYTES_MAX + 1), edit: inChunks(), ...refused },
  { name: '2 MiB', body: plantOf(2 * 1024 * 1024), ...refused },
  { name: '2 MiB in chunks', body: plantOf(2 * 1024 * 1024), edit: inChunks(), ...refused },
  {
    name: 'a length of 65,537 bytes and none sent',
    body: '',
    headers: { 'Content-Length': '65537' },
    ...refused,
  },
  {
    name: 'a length as large as one may be',
    body: '',
    headers: { 'Content-Length': '9007199254740991' },
    ...refused,
  },
];
