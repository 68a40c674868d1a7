import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(resolve(root, file), 'utf8');

/** Every workspace, as npm's lock file names it; one that is missing in an image lets `npm ci` fail there. */
const workspaces = Object.values<{ link?: boolean; resolved?: string }>(
  JSON.parse(read('package-lock.json')).packages,
)
  .filter(({ link }) => link === true)
  .map(({ resolved }) => resolved as string);

test('the images are built with the manifest of every workspace', () => {
  expect(workspaces.length).toBeGreaterThan(5);
  const dockerfile = read('deploy/docker/Dockerfile');
  const allowed = read('.dockerignore').split('\n');
  for (const workspace of workspaces) {
    expect(dockerfile).toContain(`COPY ${workspace}/package.json ${workspace}/\n`);
    const parts = workspace.split('/');
    const paths = parts.map((_, index) => `!${parts.slice(0, index + 1).join('/')}`);
    expect(allowed.some((line) => paths.includes(line) || line === `!${workspace}/package.json`)).toBe(true);
  }
});

const unpinned = (text: string) => text.replaceAll(/@sha256:[0-9a-f]{64}/g, '');

test('pin-images.sh pins every image to the digest that the registry names, again and again', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'plant-store-images-'));
  try {
    for (const file of ['docker-compose.yml', 'deploy/docker/Dockerfile', 'deploy/docker/pin-images.sh'])
      cpSync(resolve(root, file), join(directory, file));
    const pin = async (digit: string) => {
      // As Docker prints it, the digests of each platform below.
      const digest = `sha256:${digit.repeat(64)}`;
      const docker = `#!/bin/sh\nprintf 'Name: %s\\nDigest:    ${digest}\\n\\nManifests:\\n  Name: a@sha256:00\\n' "$4"\n`;
      writeFileSync(join(directory, 'docker'), docker, { mode: 0o755 });
      await execa('sh', [join(directory, 'deploy/docker/pin-images.sh')], {
        env: { PATH: `${directory}:${process.env['PATH']}` },
      });
      const images = /(?:^ARG \w+_IMAGE=|_IMAGE:-)([^}\n]+)/gm;
      return Object.fromEntries(
        ['docker-compose.yml', 'deploy/docker/Dockerfile'].map((file) => {
          const text = readFileSync(join(directory, file), 'utf8');
          expect(unpinned(text)).toBe(unpinned(read(file)));
          return [file, [...text.matchAll(images)].map(([, image]) => image)];
        }),
      );
    };
    const all = (digit: string) => {
      const digest = `sha256:${digit.repeat(64)}`;
      const pinned = (tags: readonly string[]) =>
        tags.map((tag) => expect.stringMatching(`^${tag}:[\\w.-]+@${digest}$`));
      return {
        'docker-compose.yml': pinned(['prom/prometheus', 'grafana/grafana']),
        'deploy/docker/Dockerfile': pinned(['node', 'nginx', 'mongo', 'redis']),
      };
    };
    expect(await pin('a')).toEqual(all('a'));
    expect(await pin('b')).toEqual(all('b'));
  } finally {
    rmSync(directory, { recursive: true });
  }
});
