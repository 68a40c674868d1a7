import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import Docker from 'dockerode';

/** A container engine that speaks Docker's API, at DOCKER_HOST or where Docker listens. */
const docker = new Docker();

export type Container = { id: string; service: string; state: string };

export async function engineIsReachable(): Promise<boolean> {
  return await docker.ping().then(
    () => true,
    () => false,
  );
}

/** The containers of a compose project, stopped ones as well. */
export async function containersOf(project: string): Promise<Container[]> {
  const filters = { label: [`com.docker.compose.project=${project}`] };
  const list = await docker.listContainers({ all: true, filters });
  return list.map(({ Id, State, Labels }) => ({
    id: Id,
    state: State,
    service: Labels['com.docker.compose.service'] ?? '',
  }));
}

/** Volumes and networks whose names begin with the project's. */
export async function leftOf(project: string): Promise<string[]> {
  const { Volumes } = await docker.listVolumes();
  const networks = await docker.listNetworks();
  return [...(Volumes ?? []), ...networks].map(({ Name }) => Name).filter((name) => name.startsWith(project));
}

export const inspect = (id: string) => docker.getContainer(id).inspect();

/** Runs a command inside and resolves to what it wrote to standard output and standard error. */
export async function execute(id: string, command: readonly string[]): Promise<string> {
  const execution = await docker
    .getContainer(id)
    .exec({ Cmd: [...command], AttachStdout: true, AttachStderr: true });
  return await outputOf(await execution.start({}));
}

export async function logsOf(id: string): Promise<string> {
  const frames = await docker.getContainer(id).logs({ stdout: true, stderr: true });
  return await outputOf(Readable.from([frames]));
}

/** The engine sends standard output and standard error as frames of one stream. */
async function outputOf(frames: Readable): Promise<string> {
  const output = new PassThrough();
  docker.modem.demuxStream(frames, output, output);
  frames.once('end', () => output.end()).once('error', (error) => output.destroy(error));
  return await text(output);
}
