import { DatabaseSync } from 'node:sqlite';

/** For how long two starts at the same moment retry before one of them gives up. */
const BUSY_MS_MAX = 500;
/** SQLITE_BUSY: another process holds the lock. */
const BUSY = 5;

/**
 * Locks a file until this process ends, so that at most one `npm start` uses a DATA_DIR. It is SQLite's lock, which is
 * a lock of the kernel: it is released however its process ends, and of several that try at once exactly one gets it.
 * @returns whether this process holds it now.
 */
export function lockUntilExit(path: string): boolean {
  const lock = new DatabaseSync(path, { timeout: BUSY_MS_MAX });
  try {
    lock.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    lock.close();
    if ((error as { errcode?: number }).errcode === BUSY) return false;
    throw error;
  }
  // The listener keeps the lock from being collected, which would release it.
  process.once('exit', () => lock.close());
  return true;
}
