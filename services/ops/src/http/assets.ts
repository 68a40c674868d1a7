import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fastifyStatic from '@fastify/static';
import fastifyPlugin from 'fastify-plugin';

const directory = join(import.meta.dirname, 'assets');

/** Changes with any asset's content, so that browsers may keep each version for ever and never show an old one. */
const version = readdirSync(directory)
  .sort()
  .reduce(
    (digest, file) => digest.update(file).update(readFileSync(join(directory, file))),
    createHash('sha256'),
  )
  .digest('hex')
  .slice(0, 12);

const PREFIX = `/assets/${version}/`;

/** The address of an asset of the pages: `console.css`, `status.js`, `leaf.svg`. */
export function assetPath(file: string): string {
  return PREFIX + file;
}

/** The pages' own style, script and icon. They hold nothing private, so the sign-in page can use them. */
export const assets = fastifyPlugin(async (app) => {
  await app.register(fastifyStatic, {
    root: directory,
    prefix: PREFIX,
    index: false,
    immutable: true,
    maxAge: '365d',
    decorateReply: false,
  });
});
