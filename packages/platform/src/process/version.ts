import manifest from '../../package.json' with { type: 'json' };

/** The product's version: all workspaces carry the same. */
export const VERSION = manifest.version;
