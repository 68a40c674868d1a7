import { type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';

/** A container engine that speaks Docker's API, at DOCKER_HOST or where Docker listens. */
const address = new URL(process.env['DOCKER_HOST'] ?? 'unix:///var/run/docker.sock');

export type Container = { id: string; service: string; state: string };

export async function engineIsReachable(): Promise<boolean> {
  return await call('GET', '/_ping').then(
    () => true,
    () => false,
  );
}

/** The containers of a compose project, stopped ones as well. */
export async function containersOf(project: string): Promise<Container[]> {
  const filters = JSON.stringify({ label: [`com.docker.compose.project=${project}`] });
  const list = await callJson<{ Id: string; State: string; Labels: Record<string, string> }[]>(
    'GET',
    `/containers/json?all=true&filters=${encodeURIComponent(filters)}`,
  );
  return list.map(({ Id, State, Labels }) => ({
    id: Id,
    state: State,
    service: Labels['com.docker.compose.service'] ?? '',
  }));
}

/** Volumes and networks whose names begin with the project's. */
export async function leftOf(project: string): Promise<string[]> {
  const { Volumes } = await callJson<{ Volumes: { Name: string }[] | null }>('GET', '/volumes');
  const networks = await callJson<{ Name: string }[]>('GET', '/networks');
  return [...(Volumes ?? []), ...networks].map(({ Name }) => Name).filter((name) => name.startsWith(project));
}

export type Inspection = {
  Config: { User: string; Env: string[] };
  State: { Running: boolean; Health?: { Status: string } };
  HostConfig: {
    ReadonlyRootfs: boolean;
    Init?: boolean;
    Privileged: boolean;
    CapDrop: string[] | null;
    CapAdd: string[] | null;
    SecurityOpt: string[] | null;
    Memory: number;
    PidsLimit: number;
    RestartPolicy: { Name: string };
    LogConfig: { Config: Record<string, string> };
    /** A port that is exposed but not published may be there with nothing. */
    PortBindings: Record<string, ({ HostIp: string; HostPort: string } | null)[] | null> | null;
  };
};

export const inspect = (id: string) => callJson<Inspection>('GET', `/containers/${id}/json`);

/** Runs a command inside and resolves to what it wrote to standard output and standard error. */
export async function execute(id: string, command: readonly string[]): Promise<string> {
  const { Id } = await callJson<{ Id: string }>('POST', `/containers/${id}/exec`, {
    Cmd: command,
    AttachStdout: true,
    AttachStderr: true,
  });
  return withoutFrames(await call('POST', `/exec/${Id}/start`, { Detach: false, Tty: false }));
}

export async function logsOf(id: string): Promise<string> {
  return withoutFrames(await call('GET', `/containers/${id}/logs?stdout=true&stderr=true`));
}

/** The engine sends standard output and standard error in frames: a head of eight bytes with the length, then data. */
function withoutFrames(bytes: Buffer): string {
  const parts: Buffer[] = [];
  for (let at = 0; at + 8 <= bytes.length; ) {
    const end = at + 8 + bytes.readUInt32BE(at + 4);
    parts.push(bytes.subarray(at + 8, end));
    at = end;
  }
  return Buffer.concat(parts).toString('utf8');
}

async function callJson<T>(method: string, path: string, body?: object): Promise<T> {
  return JSON.parse((await call(method, path, body)).toString('utf8')) as T;
}

async function call(method: string, path: string, body?: object): Promise<Buffer> {
  const target =
    address.protocol === 'unix:'
      ? { socketPath: address.pathname }
      : { host: address.hostname, port: address.port };
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const sending = request({
      ...target,
      method,
      path,
      agent: false,
      headers: { host: 'engine', ...(body !== undefined && { 'content-type': 'application/json' }) },
    });
    sending.once('response', resolve);
    sending.once('error', reject);
    sending.end(body === undefined ? undefined : JSON.stringify(body));
  });
  const content = await buffer(answer);
  if ((answer.statusCode ?? 500) >= 400) throw new Error(`${method} ${path}: ${content.toString('utf8')}`);
  return content;
}
