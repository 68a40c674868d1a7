import { hashPassword } from '@plant-store/platform/passwords/password-hash';

export type OpsAccount = { name: string; role: 'viewer' | 'operator'; password: string };

/** OPS_USERS for these accounts. */
export async function opsUsers(...accounts: readonly OpsAccount[]): Promise<string> {
  const entries = accounts.map(
    async ({ name, role, password }) => `${name}:${role}:${await hashPassword(password)}`,
  );
  return (await Promise.all(entries)).join(',');
}
