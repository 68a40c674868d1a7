import { readdirSync, readFileSync } from 'node:fs';

const STOPPED_MS_MAX = 30_000;
const POLL_MS = 1;
/** Stopped, or ended: `t` and `T`, `Z`, `X` in proc_pid_stat(5). */
const RUNS_NO_MORE = /^[tTZX]$/;

/**
 * Returns once no thread of a process that was sent SIGSTOP runs any more: kill(2) does not wait for that, and on a
 * busy machine the process serves on for a moment. It blocks, so the caller cannot act in between. Where there is no
 * /proc, it does not wait.
 */
export function untilStopped(pid: number): void {
  const cell = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const began = performance.now();
  while (!threadStates(pid).every((state) => RUNS_NO_MORE.test(state))) {
    if (performance.now() - began > STOPPED_MS_MAX) {
      throw new Error(`process ${pid} still runs ${STOPPED_MS_MAX} ms after SIGSTOP`);
    }
    Atomics.wait(cell, 0, 0, POLL_MS);
  }
}

/** The states of all threads of a process, as in proc_pid_stat(5); none where it is gone or there is no /proc. */
export function threadStates(pid: number): string[] {
  const threads = `/proc/${pid}/task`;
  return unlessGone(() => readdirSync(threads), []).map((thread) =>
    // The command's name, in parentheses, may hold any character.
    unlessGone(() => readFileSync(`${threads}/${thread}/stat`, 'utf8').replace(/^.*\) (.).*$/s, '$1'), 'X'),
  );
}

function unlessGone<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}
