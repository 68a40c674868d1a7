/** The steps of `npm run check`, each a process of its own; a new step is one more line. */
export const steps: readonly { name: string; program: string; args: readonly string[] }[] = [
  { name: 'format and lint', program: 'biome', args: ['check', '.'] },
  { name: 'types', program: 'tsc', args: ['--project', 'tsconfig.json'] },
  // A separate step: one of the compared implementations uses decorators.
  { name: 'types of the benchmark', program: 'tsc', args: ['--project', 'test/bench'] },
  { name: 'unused code and dependencies', program: 'knip', args: [] },
  // Production code alone, each workspace by itself: what another one or the root declares does not count.
  {
    name: 'each workspace declares what it imports',
    program: 'knip',
    args: ['--strict', '--dependencies'],
  },
  { name: 'regular expressions take linear time', program: 'node', args: ['scripts/check-patterns.ts'] },
  { name: 'no secrets', program: 'secretlint', args: ['**/*'] },
  { name: 'who imports whom', program: 'depcruise', args: ['packages', 'services', 'deploy'] },
  {
    name: 'docs/openapi.json is current',
    program: 'node',
    args: ['scripts/openapi.ts', '--check'],
  },
  {
    name: 'docs/openapi.json is sound',
    program: 'redocly',
    args: ['lint', '--config', 'test/contract/redocly.yaml', 'docs/openapi.json'],
  },
];
