/** `node end-processes.ts DIRECTORY`: ends all processes that have to do with it. */
import { endProcessesOf } from './processes.ts';

await endProcessesOf(process.argv[2] as string);
