import { waitFor } from '../../harness/wait-for.ts';
import type { Run } from '../rows/row.ts';
import type { Service } from '../system/service.ts';

/** An orchestrator needs about that long to notice and restart a process. */
const RESTART_MS = 500;
const INSPECTOR_MS_MAX = 5_000;

export async function restart(service: Service, { pause }: Pick<Run, 'pause'>): Promise<void> {
  await pause(RESTART_MS);
  await service.start();
  await service.ready();
}

/** Keeps a process from doing anything else, as a long computation does. Resolves when it is over. */
export async function blockEventLoop(service: Service, ms: number): Promise<void> {
  const { program, inspectorPort } = service;
  program()?.signal('SIGUSR1');
  const targets = await waitFor(
    async () => (await fetch(`http://127.0.0.1:${inspectorPort}/json/list`)).json(),
    { withinMs: INSPECTOR_MS_MAX, what: `the inspector of ${service.name} listens` },
  );
  const [{ webSocketDebuggerUrl }] = targets as [{ webSocketDebuggerUrl: string }];
  const socket = new WebSocket(webSocketDebuggerUrl);
  const { promise: done, resolve, reject } = Promise.withResolvers<void>();
  socket.onopen = () => {
    const expression = `{ const end = performance.now() + ${ms}; while (performance.now() < end); }`;
    socket.send(JSON.stringify({ id: 1, method: 'Runtime.evaluate', params: { expression } }));
  };
  socket.onmessage = () => resolve();
  socket.onerror = () => reject(new Error(`the inspector of ${service.name} does not answer`));
  socket.onclose = () => reject(new Error(`the inspector of ${service.name} has closed`));
  try {
    await done;
  } finally {
    socket.onclose = null;
    socket.close();
  }
}

/**
 * Lets the locks of all active jobs expire now instead of in 10 s. Only while no worker lives: a living one would lose
 * its locks as well.
 */
export async function expireLocks({ system }: Run): Promise<void> {
  const active = await system.queue.getActive();
  const locks = active.map(({ id = '' }) => `${system.queue.toKey(id)}:lock`);
  if (locks.length > 0) await system.redis.del(...locks);
}
