import type { BSON } from 'mongodb';

/** The commands that an API replica may send to the plants, the index and the audit log; any other one is an error. */
export function apiCommand(name: string, body: BSON.Document): 'insert' | 'find' {
  if (body[name] === 'plants' && (name === 'insert' || name === 'find')) return name;
  throw new Error(`the model has no step for the command of the API: ${name} ${String(body[name])}`);
}
