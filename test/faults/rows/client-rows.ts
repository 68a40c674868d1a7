import { type IssuerKey, issuerKey, jwksIssuer } from '../../harness/api/jwks-issuer.ts';
import { inSeconds, token } from '../../harness/api/tokens.ts';
import type { Service } from '../system/service.ts';
import type { Prepared, Row } from './row.ts';

const TWO_HOURS_MS = 2 * 3_600_000;
const TOKEN_SECONDS = 3_600;
const SLOW_ANSWER_MS = 1_500;

export const clientRows: readonly Row[] = [
  {
    row: '39',
    title: 'clients hang up right after sending',
    moment: '20 %',
    load: { hangUps: 0.2 },
    fault: ({ pause }) => pause(5_000),
  },
  {
    row: '40',
    title: 'clock of one replica and one worker two hours ahead, then behind',
    moment: 'whole run',
    fault: async (run) => {
      const shifted = [run.system.replicas[0] as Service, run.system.workers[0] as Service];
      for (const offsetMs of [TWO_HOURS_MS, -TWO_HOURS_MS]) {
        await Promise.all(shifted.map((service) => restartShifted(service, offsetMs)));
        await run.pause(4_000, 15_000);
      }
    },
  },
  {
    row: '42',
    title: 'JWKS issuer down, slow, rotating',
    moment: 'under load',
    prepare: startIssuer,
    fault: async (run, prepared) => {
      const { down, slow, works, announce, rotate } = prepared?.controls ?? {};
      down?.();
      await run.pause(2_500);
      slow?.();
      await run.pause(3_000);
      works?.();
      // After a failed fetch the next one comes 5 s later.
      await run.pause(6_500);
      announce?.();
      await run.pause(2_500);
      rotate?.();
      await run.pause(2_500);
    },
    expectations: { noFailedAttempt: true },
  },
];

async function restartShifted(service: Service, offsetMs: number): Promise<void> {
  await service.kill();
  service.shiftClock(offsetMs);
  await service.start();
  await service.ready();
}

/** An issuer whose key set the replicas fetch each second. */
async function startIssuer(): Promise<Prepared> {
  let current: IssuerKey = issuerKey('first');
  const next = issuerKey('second');
  const issuer = await jwksIssuer(current);
  const works = () => issuer.publish(current);
  return {
    api: { AUTH_SECRET: '', AUTH_JWKS_URL: issuer.url, AUTH_JWKS_CACHE_S: '1' },
    token: (sub) => token({ ...current.signing, claims: { sub, exp: inSeconds(TOKEN_SECONDS) } }),
    controls: {
      down: () => issuer.answer((response) => response.destroy()),
      slow: () => issuer.answer((response) => void setTimeout(() => response.destroy(), SLOW_ANSWER_MS)),
      works,
      announce: () => issuer.publish(current, next),
      rotate: () => {
        current = next;
        works();
      },
    },
    close: issuer.close,
  };
}
