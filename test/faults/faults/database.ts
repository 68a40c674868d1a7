import { waitFor } from '../../harness/wait-for.ts';
import type { Member } from '../system/database.ts';
import type { System } from '../system/system.ts';

/** How commands fail: `data` of mongod's fail point "failCommand". */
export type Failure = {
  commands: readonly string[];
  client: 'plant-store-api' | 'plant-store-worker';
  times: number;
  errorCode?: number;
  writeConcernError?: { code: number; errmsg: string };
};

/** What mongod had counted of the fail point by the last `failCommands`: its count is never set back. */
const countsBefore = new WeakMap<Member, number>();

/** The next commands of these clients fail in that way. */
export async function failCommands(
  member: Member,
  { commands, client, times, ...how }: Failure,
): Promise<void> {
  const before = await member.admin({ configureFailPoint: 'failCommand', mode: 'off' });
  countsBefore.set(member, Number(before['count']));
  await member.admin({
    configureFailPoint: 'failCommand',
    mode: { times },
    data: { failCommands: commands, appName: client, ...how },
  });
}

/** Returns how many commands have failed since `failCommands`. */
export async function stopFailing(member: Member): Promise<number> {
  const after = await member.admin({ configureFailPoint: 'failCommand', mode: 'off' });
  return Number(after['count']) - (countsBefore.get(member) ?? 0);
}

/**
 * The secondaries take nothing more from the primary: it has writes that no other member has. After about a second they
 * elect another, because what they take is also how they know that it lives.
 */
export async function stopReplication(members: readonly Member[]): Promise<void> {
  for (const member of members)
    await member.admin({ configureFailPoint: 'stopReplProducer', mode: 'alwaysOn' });
}

export async function resumeReplication(members: readonly Member[]): Promise<void> {
  for (const member of members) await member.admin({ configureFailPoint: 'stopReplProducer', mode: 'off' });
}

/** The secondaries take everything and write none of it, for as long as they live: no election, and no majority. */
export async function stopApplying(members: readonly Member[]): Promise<void> {
  for (const member of members)
    await member.admin({ configureFailPoint: 'rsSyncApplyStop', mode: 'alwaysOn' });
}

/** The term of the election that made the present primary. */
export async function term({ database }: System): Promise<number> {
  const primary = await database.primary();
  return Number((await primary.admin({ replSetGetStatus: 1 }))['term']);
}

export async function roles({
  database,
}: System): Promise<{ primary: Member; secondaries: readonly Member[] }> {
  const primary = await database.primary();
  return { primary, secondaries: database.members.filter((member) => member !== primary) };
}

/** Waits until one of these members is primary. */
export async function untilElected(members: readonly Member[]): Promise<void> {
  await waitFor(
    async () => {
      const answers = await Promise.all(
        members.map((member) => member.admin({ hello: 1 }).catch(() => undefined)),
      );
      return answers.some((answer) => answer?.['isWritablePrimary'] === true);
    },
    { withinMs: 20_000, what: 'another member is elected' },
  );
}
