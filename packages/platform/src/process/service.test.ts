import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';

const EXIT_MS_MAX = 15_000;

/** The command of a process whose service `load`, the source of a function, loads. There, `signal()` sends it SIGTERM. */
function commandOf(load: string): string[] {
  const source = `
    import { setTimeout as sleep } from 'node:timers/promises';
    import { runService } from './service.ts';
    const signal = () => process.kill(process.pid, 'SIGTERM');
    const readConfig = () => ({ config: { instance: 'demo-1', logLevel: 'info' }, secrets: {} });
    setInterval(() => {}, 1_000);
    await runService('demo', ${load});`;
  return ['--input-type=module-typescript', '--eval', source];
}

const options = { cwd: import.meta.dirname, timeout: EXIT_MS_MAX, killSignal: 'SIGKILL' } as const;

function run(load: string): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, commandOf(load), { ...options, encoding: 'utf8' });
}

/** Loads a service that starts by the source of that function. */
const starting = (start: string) => `async () => ({ readConfig, start: ${start} })`;
const runStart = (start: string) => run(starting(start));

/** In no order: what is written at the very end may overtake the line before. */
function messages(stdout: string): string[] {
  const lines = stdout.trim().split('\n');
  return lines.map((line) => (JSON.parse(line) as { msg: string }).msg).toSorted();
}

test('SIGTERM closes the service and ends the process with 0', () => {
  const { status, stdout } = runStart(`async (config, secrets, logger) => {
    setImmediate(signal);
    return { close: async () => logger.info('closing') };
  }`);
  expect(messages(stdout)).toEqual(['closed', 'closing', 'draining']);
  expect(status).toBe(0);
});

test('a signal while the service is loaded ends the process with 0, and nothing is started', () => {
  const { status, stdout, stderr } = run(`async () => {
    signal();
    await sleep(500);
    return { readConfig, start: async () => { throw new Error('started'); } };
  }`);
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' });
});

test('a signal while the service starts interrupts the start, and the process ends with 0', () => {
  const { status, stdout, stderr } = runStart(`async (config, secrets, logger, stopping) => {
    signal();
    await sleep(60_000, undefined, { signal: stopping });
  }`);
  expect(messages(stdout)).toEqual(['closed', 'draining']);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});

test('a service that starts in spite of a signal is closed', () => {
  const { status, stdout } = runStart(`async (config, secrets, logger) => {
    signal();
    await sleep(200);
    return { close: async () => logger.info('closing') };
  }`);
  expect(messages(stdout)).toEqual(['closed', 'closing', 'draining']);
  expect(status).toBe(0);
});

test('a close that fails is logged with its reason, and the exit code is 1', () => {
  const { status, stdout } = runStart(`async () => {
    setImmediate(signal);
    return { close: async () => { throw new Error('the socket is stuck'); } };
  }`);
  expect(stdout).toMatch(/"level":60.*the socket is stuck.*closing failed/);
  expect(stdout).not.toContain('"closed"');
  expect(status).toBe(1);
});

test('a service that cannot start says why, and the exit code is 1', () => {
  const { status, stderr } = runStart(`async () => { throw new RangeError('no such place'); }`);
  expect(stderr).toMatch(/^demo: RangeError: no such place\n/);
  expect(status).toBe(1);
});

test('settings that cannot be used are one line', () => {
  const { status, stderr } = run(`async () => {
    const { ConfigurationError } = await import('../configuration/configuration.ts');
    return { readConfig: () => { throw new ConfigurationError(['PORT: no', 'HOST: no']); } };
  }`);
  expect({ status, stderr }).toEqual({ status: 1, stderr: 'demo: configuration: PORT: no; HOST: no\n' });
});

test('a defect while it runs closes the service, is logged, and the exit code is 1', () => {
  const { status, stdout } = runStart(`async (config, secrets, logger) => {
    setImmediate(() => { throw new Error('not foreseen'); });
    return { close: async () => logger.info('closing') };
  }`);
  expect(stdout).toMatch(/"level":60.*not foreseen.*a defect: closing/);
  expect(messages(stdout)).toContain('closing');
  expect(status).toBe(1);
});

test('a service whose log nobody reads any more ends all the same', async () => {
  const child = spawn(
    process.execPath,
    commandOf(
      starting(`async (config, secrets, logger) => {
        setImmediate(signal);
        return { close: async () => logger.info('closing') };
      }`),
    ),
    { ...options, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  child.stdout.destroy();
  expect(await once(child, 'exit')).toEqual([0, null]);
});
