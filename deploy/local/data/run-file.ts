import { replaceFile } from './data-directory.ts';
import type { OpsUser } from './ops-users.ts';

/** What other tools learn about the running system; `DATA_DIR/run.json`, mode 600, only there while it runs. */
export type RunFile = {
  /** Where clients create plants. */
  url: string;
  ops: { url: string; users: OpsUser[] };
  mongodb: string;
  redis: string;
  /** `url` is the internal listener of a service (health, metrics), or the gateway's. */
  processes: { name: string; pid: number; url?: string }[];
};

export function writeRunFile(path: string, content: RunFile): void {
  replaceFile(path, `${JSON.stringify(content, undefined, 2)}\n`);
}

/** What Prometheus scrapes, as its file_sd_configs reads it: the services, whose ports are new at each start. */
export function writePrometheusTargets(path: string, processes: RunFile['processes']): void {
  const services = processes.flatMap(({ name, url }) =>
    url !== undefined && /^(?:api|worker)-\d+$|^ops$/.test(name)
      ? [{ targets: [new URL(url).host], labels: { process: name } }]
      : [],
  );
  replaceFile(path, `${JSON.stringify(services, undefined, 2)}\n`);
}
