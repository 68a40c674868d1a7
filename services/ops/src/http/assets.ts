import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import fastifyPlugin from 'fastify-plugin';

const own = join(import.meta.dirname, 'assets');
/** The plots' library, as its package brings it: a script and a style sheet. */
const uplot = dirname(fileURLToPath(import.meta.resolve('uplot')));

const files = [
  ...readdirSync(own)
    .sort()
    .map((file) => join(own, file)),
  ...['uPlot.iife.min.js', 'uPlot.min.css'].map((file) => join(uplot, file)),
];

/** Changes with any asset's content, so that browsers may keep each version for ever and never show an old one. */
const version = files
  .reduce((digest, file) => digest.update(file).update(readFileSync(file)), createHash('sha256'))
  .digest('hex')
  .slice(0, 12);

const PREFIX = `/assets/${version}/`;

/** The address of an asset of the pages: `console.css`, `live.js`, `leaf.svg`, `uPlot.min.css`. */
export function assetPath(file: string): string {
  return PREFIX + file;
}

/** The pages' own styles, scripts and icon. They hold nothing private, so the sign-in page can use them. */
export const assets = fastifyPlugin(async (app) => {
  await app.register(fastifyStatic, {
    root: [own, uplot],
    prefix: PREFIX,
    index: false,
    immutable: true,
    maxAge: '365d',
    decorateReply: false,
  });
});
