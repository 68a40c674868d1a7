import { join } from 'node:path';
import { files, randomText, readOrCreate } from './data-directory.ts';

/** Who may sign in to the operators' console. */
export type OpsUser = { name: string; password: string; role: string };

const PASSWORD_BYTES = 12;

/**
 * The users given (`name:role:password`, comma separated, as OPS_USERS), else one per role whose passwords were
 * generated at the first start.
 */
export function opsUsers(
  givenUsers: string | undefined,
  dataDir: string,
): { setting: string; users: OpsUser[] } {
  const setting =
    givenUsers ??
    readOrCreate(join(dataDir, files.opsUsers), () =>
      ['operator', 'viewer'].map((role) => `${role}:${role}:${randomText(PASSWORD_BYTES)}`).join(','),
    );
  const users = setting.split(',').map((user) => {
    const [name = '', role = '', ...password] = user.trim().split(':');
    return { name, password: password.join(':'), role };
  });
  return { setting, users };
}
