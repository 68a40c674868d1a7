import type { Case } from './case.ts';
import { chunk, inChunks } from './chunked.ts';

const header = (line: string) => (request: string) => request.replace('\r\n\r\n', `\r\n${line}\r\n\r\n`);
const swap = (from: string, to: string) => (request: string) => request.replace(from, to);

const ok = (name: string, edit: (request: string) => string): Case => ({ name, edit, status: 200 });

export const acceptedFraming: readonly Case[] = [
  ok('a body in one chunk', inChunks()),
  ok(
    'chunk extensions',
    inChunks((body) => chunk(body).replace('\r\n', ';a=b;c="d"\r\n')),
  ),
  ok(
    'trailers',
    inChunks((body) => chunk(body).replace(/\r\n\r\n$/, '\r\nX-Checksum: 1\r\n\r\n')),
  ),
  ok(
    'chunk sizes with leading zeros',
    inChunks((body) => `000${chunk(body)}`),
  ),
  ok('Transfer-Encoding in capitals', (request) => inChunks()(request).replace('chunked', 'CHUNKED')),
  ok('an empty line first', (request) => `\r\n${request}`),
  ok('an empty Host', swap('Host: plants.test', 'Host:')),
  ok('an IPv6 Host', swap('Host: plants.test', 'Host: [::1]:3000')),
  ok('Expect: 100-continue', header('Expect: 100-continue')),
  ok('Latin-1 in a header nobody reads', header('X-Note: caf\xe9')),
  ok('Upgrade to WebSocket', header('Connection: Upgrade\r\nUpgrade: websocket')),
  ok(
    'Upgrade to HTTP/2',
    header('Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk'),
  ),
  ok('HTTP/1.0', swap('HTTP/1.1', 'HTTP/1.0')),
  ok('HTTP/1.0, kept alive', (request) =>
    header('Connection: keep-alive')(request).replace('HTTP/1.1', 'HTTP/1.0'),
  ),
];

const refused = (name: string, edit: (request: string) => string, status = 400): Case => ({
  name,
  edit,
  status,
  error: 1007,
});
const instead = (name: string, bytes: string): Case => refused(name, () => bytes);
const coded = (coding: string) => (request: string) => inChunks()(request).replace('chunked', coding);
const length = (value: string) => (request: string) =>
  request.replace(/Content-Length: (\d+)/, (_line, bytes) => `Content-Length: ${value.replace('N', bytes)}`);

export const refusedFraming: readonly Case[] = [
  refused('both lengths', (request) => header('Transfer-Encoding: chunked')(request)),
  refused('both lengths, chunked first', (request) =>
    request.replace('Content-Length', 'Transfer-Encoding: chunked\r\nContent-Length'),
  ),
  refused('two equal lengths', length('N\r\nContent-Length: N')),
  refused('two different lengths', length('N\r\nContent-Length: 1')),
  refused('a list of lengths', length('N, N')),
  refused('a length with a sign', length('+N')),
  refused('a negative length', length('-1')),
  refused('a hexadecimal length', length('0x1b')),
  refused('a length that overflows', length('99999999999999999999')),
  refused('an empty length', length('')),
  refused('a length with a fraction', length('N.0')),
  refused(
    'a chunk size that is no number',
    inChunks((body) => `xyz\r\n${body}\r\n0\r\n\r\n`),
  ),
  refused(
    'a negative chunk size',
    inChunks((body) => `-1\r\n${body}\r\n0\r\n\r\n`),
  ),
  refused(
    'a chunk size that overflows',
    inChunks((body) => `fffffffffffffffff\r\n${body}\r\n0\r\n\r\n`),
  ),
  refused(
    'a chunk longer than its size',
    inChunks((body) => `1\r\n${body}\r\n0\r\n\r\n`),
  ),
  refused(
    'chunks divided by bare line feeds',
    inChunks((body) => chunk(body).replaceAll('\r\n', '\n')),
  ),
  refused('chunked twice', coded('chunked, chunked')),
  refused('two headers that say chunked', coded('chunked\r\nTransfer-Encoding: chunked')),
  refused('chunked before another coding', coded('chunked, gzip')),
  refused('a coding beside chunked', coded('gzip, chunked')),
  refused('identity', coded('identity')),
  refused('an unknown coding', coded('xchunked')),
  refused('an empty Transfer-Encoding', coded('')),
  refused('no Host', swap('Host: plants.test\r\n', '')),
  refused('two Hosts', header('Host: other.test')),
  refused('two equal Hosts in different spelling', header('HOST: plants.test')),
  refused('a Host that is no host', swap('plants.test', 'plants.test/x')),
  refused('a Host with a space', swap('plants.test', 'plants test')),
  refused('a Host with a user', swap('plants.test', 'me@plants.test')),
  refused('HTTP/1.0 without Host', (request) => request.replace('HTTP/1.1\r\nHost: plants.test', 'HTTP/1.0')),
  refused('HTTP/1.0 with chunks', (request) => inChunks()(request).replace('HTTP/1.1', 'HTTP/1.0')),
  refused('HTTP/1.0 with chunks, kept alive', (request) =>
    header('Connection: keep-alive')(inChunks()(request)).replace('HTTP/1.1', 'HTTP/1.0'),
  ),
  refused('two Authorization headers', header('Authorization: Basic eDp5')),
  refused('two Content-Types', header('Content-Type: text/plain')),
  refused('two equal Content-Types', header('content-type: application/json')),
  refused('a space before a colon', swap('Host:', 'Host :')),
  refused('a tab before a colon', swap('Content-Length:', 'Content-Length\t:')),
  refused('a folded header', header('X-Note: a\r\n b')),
  refused('a space before the first header', swap('Host:', ' Host:')),
  refused('a header without a colon', header('X-Note')),
  refused('a header without a name', header(': a')),
  refused('a NUL in a header', header('X-Note: a\0b')),
  refused('a NUL in a header name', header('X-\0Note: a')),
  refused('a control character in a header', header('X-Note: a\x01b')),
  refused('a carriage return alone', header('X-Note: a\rX-Other: b')),
  refused('line feeds alone', (request) => request.replaceAll('\r\n', '\n')),
  refused('a fragment in the target', swap('/plants', '/plants#top')),
  refused('a target cut in an escape', swap('/plants', '/plants%')),
  refused('a target that is no UTF-8', swap('/plants', '/%ff')),
  refused('a target that is no UTF-8, of another method', (request) =>
    request.replace('POST /plants', 'OPTIONS /%ff'),
  ),
  refused('raw Latin-1 in the target', swap('/plants', '/pl\xe4nts')),
  refused('a space in the target', swap('/plants', '/pla nts')),
  refused('a target without a slash', swap('/plants', 'plants')),
  refused('an authority as the target', swap('/plants', 'plants.test:443')),
  refused('no target', swap('/plants ', '')),
  refused('a method nobody knows', swap('POST', 'PLANT')),
  refused('a method in small letters', swap('POST', 'post')),
  refused('HTTP/2.0 in a request line', swap('HTTP/1.1', 'HTTP/2.0')),
  refused('HTTP/1.2', swap('HTTP/1.1', 'HTTP/1.2')),
  refused('HTTP/0.9 with a head', swap('HTTP/1.1', 'HTTP/0.9')),
  refused('another protocol', swap('HTTP/1.1', 'ICE/1.0')),
  refused('an expectation nobody knows', header('Expect: a-miracle'), 417),
  refused('a request line past 16 KiB', swap('/plants', `/${'a'.repeat(17_000)}`), 431),
  refused('a header past 16 KiB', header(`X-Note: ${'a'.repeat(17_000)}`), 431),
  refused('3,000 headers', header('a:b\r\n'.repeat(3_000).trimEnd()), 431),
  instead('an HTTP/2 preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  instead('a TLS greeting', '\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03'),
  instead('an SSH greeting', 'SSH-2.0-OpenSSH_9.2\r\n'),
  instead('NULs', '\0\0\0\0'),
  instead('an answer instead of a request', 'HTTP/1.1 200 OK\r\n\r\n'),
];
