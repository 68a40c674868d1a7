// Loaded before every command: Node 24 runs TypeScript as it is, older ones would end in a stack trace.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 24 || (major === 24 && minor < 12)) {
  process.stderr.write(
    `Plant Store needs Node 24.12 or newer, this is ${process.versions.node}: run "npm ci" without --omit=optional, ` +
      'which brings Node 24 for npm scripts, or install Node 24\n',
  );
  process.exit(1);
}
