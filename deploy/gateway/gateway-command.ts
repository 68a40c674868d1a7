import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const script = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** Where nginx listens; port 0 does not exist for it. */
type GatewayAddress = { host: string; port: number };

/** What differs between installations; README.md lists the settings that `settings` may contain. */
export type GatewayOptions = {
  listen: GatewayAddress;
  /** `/livez`, `/readyz` (an API replica is ready) and `/status` (stub_status), for operators. */
  internal: GatewayAddress;
  /** `host:port` of each API replica, at least one. */
  upstreams: readonly string[];
  /** `host:port` of each replica's internal listener, whose `/readyz` decides that of the gateway. */
  readinessUpstreams: readonly string[];
  /** Configuration, pid file, temporary files and access log; made when absent, one for each gateway. */
  directory: string;
  /** `directory` holds tls.crt and tls.key; `listen` then only redirects to `publicPort` (default: its own port). */
  tls?: { directory: string; listen: GatewayAddress; publicPort?: number };
  /** GATEWAY_* settings that replace the defaults of a local gateway. */
  settings?: Readonly<Record<`GATEWAY_${string}`, string>>;
};

/** A process to start, without a shell and without root. */
export type GatewayCommand = {
  command: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  /** Drains: requests in flight are answered, 8 s at most. SIGTERM would cut them. */
  stopSignal: 'SIGQUIT';
};

/** The gateway in the foreground, one process id from start to end. `env` is to be added to the inherited one. */
export function gatewayCommand(options: GatewayOptions): GatewayCommand {
  return { command: 'sh', args: [script('start.sh')], env: gatewaySettings(options), stopSignal: 'SIGQUIT' };
}

/**
 * The configuration that `gatewayCommand` would run with.
 * @throws with one line on `stderr` that names the setting at fault.
 */
export async function renderGateway(options: GatewayOptions): Promise<string> {
  const env = { ...process.env, ...gatewaySettings(options) };
  const { stdout } = await run('sh', [script('render.sh')], { env });
  return stdout;
}

/** The release of nginx that would run, or undefined where none is installed. */
export async function nginxVersion(): Promise<string | undefined> {
  const path = `${process.env['PATH'] ?? ''}:/usr/local/sbin:/usr/sbin`;
  try {
    const { stderr } = await run(process.env['GATEWAY_NGINX'] ?? 'nginx', ['-v'], {
      env: { ...process.env, PATH: path },
    });
    return /nginx\/([\d.]+)/.exec(stderr)?.[1];
  } catch {
    return undefined;
  }
}

function gatewaySettings(options: GatewayOptions): Record<string, string> {
  const { listen, internal, upstreams, readinessUpstreams, directory, tls, settings } = options;
  return {
    GATEWAY_LISTEN: address(listen),
    GATEWAY_INTERNAL_LISTEN: address(internal),
    GATEWAY_UPSTREAMS: upstreams.join(' '),
    GATEWAY_READINESS_UPSTREAMS: readinessUpstreams.join(' '),
    GATEWAY_DIRECTORY: directory,
    GATEWAY_ACCESS_LOG: `${directory}/access.log`,
    // On a local machine all requests come from one address, and a log line for each success would fill the disk.
    GATEWAY_LIMITS: 'off',
    GATEWAY_LOG: 'failures',
    ...(tls && {
      GATEWAY_TLS_DIRECTORY: tls.directory,
      GATEWAY_TLS_LISTEN: address(tls.listen),
      GATEWAY_TLS_PORT: String(tls.publicPort ?? tls.listen.port),
    }),
    ...settings,
  };
}

function address({ host, port }: GatewayAddress): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
