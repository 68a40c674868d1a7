import { existsSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { longValues } from '../harness/network/long-values.ts';
import { exchange } from '../harness/network/raw-http.ts';
import { testEnvironment } from '../harness/servers/servers.ts';
import { operator, type RunningConsole, startConsole } from './running-console.ts';
import { signedIn } from './visitor.ts';

/** Every header that the console or a library below it reads, with the beginning of a value that is read on. */
const headers: Record<string, string> = {
  Accept: 'text/html',
  Cookie: 'session=a',
  'Content-Type': 'application/x-www-form-urlencoded',
  Host: 'a',
  'Last-Event-ID': '1',
  Origin: 'http://a',
  'Sec-Fetch-Site': 'same-origin',
  Traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  'X-Forwarded-For': '127.0.0.1',
  'X-Forwarded-Host': 'a',
  'X-Forwarded-Proto': 'https',
};
/** A pattern that looks twice at each of 15,000 characters takes 70 ms or more, one that looks once less than 1 ms. */
const CPU_MS_MAX = 30;
/** The console's own readings may fall into one attempt; what is slow is slow each time. */
const ATTEMPTS = 5;
/** Linux counts a process' time in these (proc(5), fields 14 and 15 of stat). */
const TICK_MS = 10;

describe.skipIf(!existsSync('/proc/self/stat'))('a header of the console', () => {
  let ops: RunningConsole;
  let cookie: string;
  beforeAll(async () => {
    ops = await startConsole({ ...testEnvironment(), TRUSTED_PROXIES: '127.0.0.1' });
    cookie = (await signedIn(ops, operator)).cookie as string;
  });
  afterAll(() => ops?.close());

  function cpuMs(): number {
    const stat = readFileSync(`/proc/${ops.pid}/stat`, 'utf8');
    const [user = '', system = ''] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11);
    return (Number(user) + Number(system)) * TICK_MS;
  }

  /** The processor time of the console for the request and whatever answers it; the best attempt. */
  async function leastCpu(request: string): Promise<number> {
    let least = Number.POSITIVE_INFINITY;
    for (let attempt = 0; attempt < ATTEMPTS && least > CPU_MS_MAX; attempt++) {
      const before = cpuMs();
      await exchange(ops.url, request);
      least = Math.min(least, cpuMs() - before);
    }
    return least;
  }

  test('is read behind the sign-in', async () => {
    const answer = await exchange(ops.url, `GET /live HTTP/1.1\r\nHost: a\r\nCookie: ${cookie}\r\n\r\n`);
    expect(answer.status).toBe(200);
  });

  describe.each(Object.entries(headers))('%s', (name, start) => {
    test.each(longValues)('%s each separator, 15,000 characters long, costs no time', async (_, values) => {
      const slow: string[] = [];
      for (const { separator, value } of values(start)) {
        const all = Object.entries({ Host: 'a', Cookie: cookie, 'Content-Length': '0', [name]: value });
        const head = all.map(([each, content]) => `${each}: ${content}\r\n`).join('');
        for (const line of ['GET /live', 'POST /nowhere']) {
          const ms = await leastCpu(`${line} HTTP/1.1\r\n${head}\r\n`);
          if (ms > CPU_MS_MAX) slow.push(`${line}, ${JSON.stringify(separator)}: ${ms} ms`);
        }
      }
      expect(slow).toEqual([]);
    });
  });
});
