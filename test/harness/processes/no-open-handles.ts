import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll } from 'vitest';
import { underLoadMs } from '../wait-for.ts';

/** How long what a file has closed may take to be gone. */
const GONE_MS_MAX = 3_000;

/** Whatever keeps a process alive and is not the test runner's own; timers are unknown by then to matter. */
const handles = () =>
  process
    .getActiveResourcesInfo()
    .filter((resource) => /^(TCP|UDP|TTY|Pipe|Process|FS\w*Watch|Worker)/.test(resource));

// A process opens its standard streams when somebody first asks for them, as some packages do while they are loaded.
void [process.stdin, process.stdout, process.stderr];
const before = handles();

// The first hook registered is the last to run: everything the file opened should be closed by then.
afterAll(async () => {
  const deadline = performance.now() + underLoadMs(GONE_MS_MAX);
  let left = added();
  while (left.length > 0 && performance.now() < deadline) {
    await sleep(20);
    left = added();
  }
  if (left.length > 0) {
    throw new Error(`the file leaves open: ${left.join(', ')}. Close in afterAll what it has opened`);
  }
});

function added(): string[] {
  const rest = [...before];
  return handles().filter((resource) => {
    const index = rest.indexOf(resource);
    if (index >= 0) rest.splice(index, 1);
    return index < 0;
  });
}
