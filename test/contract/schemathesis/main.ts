/**
 * Holds a running product against docs/openapi.json.
 * Usage: npm run schemathesis -- --token "$(npm run --silent token)" [--url http://127.0.0.1:3000]
 */
import { parseArgs } from 'node:util';
import { runSchemathesis } from './run.ts';

const { values } = parseArgs({
  options: { url: { type: 'string', default: 'http://127.0.0.1:3000' }, token: { type: 'string' } },
});

if (values.token === undefined) {
  process.stderr.write('schemathesis: give an access token: --token "$(npm run --silent token)"\n');
  process.exit(1);
}
try {
  const { report, output } = await runSchemathesis({ url: values.url, token: values.token });
  process.stdout.write(output);
  process.exitCode = report.exit_code;
} catch (error) {
  process.stderr.write(`schemathesis: ${(error as Error).message}\n`);
  process.exitCode = 1;
}
