/* Who may import whom, for dependency-cruiser (npm run check). Type imports and dynamic imports count as any other. */
import { Visitor } from '@swc/core/Visitor.js';

/** swc parses `using` declarations, but its visitor, which dependency-cruiser walks with, does not know them. */
const { visitStatement } = Visitor.prototype;
Visitor.prototype.visitStatement = function (statement) {
  if (statement.type !== 'UsingDeclaration') return visitStatement.call(this, statement);
  this.visitVariableDeclarators(statement.decls);
  return statement;
};

/** An adapter bears the name of its technology, wherever it lies. */
const ADAPTERS = '/(?:mongo|bullmq)-[^/]+\\.ts$';
/** Databases, queues, frameworks, loggers and Node's own modules, as npm packages resolve. */
const TECHNOLOGY =
  '^node:|node_modules/(?:fastify|@fastify|mongodb|bullmq|ioredis|pino|prom-client|@bull-board)/';

/** `comment` says what to do instead. */
const rules = [
  {
    name: 'no cycles',
    comment: 'move what both need into a file of its own, or hand it over as a parameter',
    from: {},
    to: { circular: true },
  },
  {
    name: 'contracts are pure: the words all services speak',
    comment: 'move the code to packages/platform; of the driver, contracts name the types of BSON alone',
    from: { path: '^packages/contracts/' },
    to: { pathNot: ['^packages/contracts/', 'node_modules/(?:mongodb|bson)/'] },
  },
  {
    name: 'platform has no business word',
    comment: 'hand the word over as a parameter',
    from: { path: '^packages/platform/' },
    to: { path: '^(?:services|deploy|scripts|test|packages/(?!platform/))' },
  },
  {
    name: 'the pure parts of audit and search know no database, queue, framework, logger or clock',
    comment: 'declare what is needed as a type and implement it in packages/*/src/mongo',
    from: { path: '^packages/(?:audit|search)/src/', pathNot: ADAPTERS },
    to: { path: [`${ADAPTERS}`, TECHNOLOGY], pathNot: '^node:(?:crypto|timers/promises)$' },
  },
  {
    name: 'a domain imports contracts alone',
    comment: 'declare a port in the domain and implement it in an adapter',
    from: { path: '^services/([^/]+)/src/domain/' },
    to: { pathNot: ['^services/$1/src/domain/', '^packages/contracts/'] },
  },
  {
    name: 'http, jobs, status and pages meet a use case, never an adapter',
    comment: 'take the finished use case as a parameter; compose.ts puts both together',
    from: {
      path: '^services/[^/]+/src/(?:http|jobs|outbox|status|pages)/',
      pathNot: ADAPTERS,
    },
    to: { path: [ADAPTERS, '^services/api/src/(?:storage|queue)/'] },
  },
  {
    name: 'adapters do not know HTTP',
    comment: 'return an outcome of the domain and let http choose the answer',
    from: { path: '^services/api/src/(?:storage|queue|tokens)/' },
    to: { path: '^services/api/src/http/|node_modules/@?fastify' },
  },
  {
    name: 'services never import each other',
    comment: 'move what both need to packages/',
    from: { path: '^services/([^/]+)/' },
    to: { path: '^services/', pathNot: '^services/$1/' },
  },
  {
    name: 'production code imports neither tests nor deployment nor scripts',
    comment: 'move what is shared to packages/',
    from: { path: '^(?:packages|services)/' },
    to: { path: '^(?:test|deploy|scripts)/' },
  },
  {
    name: 'only main.ts composes a service',
    comment: 'take what you need as a typed parameter',
    from: { path: '^services/[^/]+/src/', pathNot: '^services/[^/]+/src/main\\.ts$' },
    to: { path: '^services/[^/]+/src/compose\\.ts$' },
  },
  {
    name: 'every import is found',
    comment: 'mend the path, or declare the package in the package.json of the workspace that imports it',
    from: {},
    to: { couldNotResolve: true },
  },
];

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: rules.map((rule) => ({ ...rule, severity: 'error' })),
  options: {
    // TypeScript 7 has no programmatic interface that dependency-cruiser could use.
    parser: 'swc',
    moduleSystems: ['es6'],
    doNotFollow: { path: 'node_modules' },
    // What browsers run, and tests beside the code, which may import what they test.
    exclude: { path: '/assets/|\\.test\\.ts$' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
      extensions: ['.ts', '.js', '.json'],
    },
  },
};
