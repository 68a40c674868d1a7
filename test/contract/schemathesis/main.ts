/** Holds a running product against docs/openapi.json. */
import { commandLine } from '../../harness/command-line.ts';
import { runSchemathesis } from './run.ts';

const usage = 'npm run schemathesis -- --token "$(npm run --silent token)" [--url http://127.0.0.1:3000]\n';
const { values } = commandLine('schemathesis', usage, {
  options: { url: { type: 'string', default: 'http://127.0.0.1:3000' }, token: { type: 'string' } },
});

if (values.token === undefined) {
  process.stderr.write(`schemathesis: give an access token\n${usage}`);
  process.exit(2);
}
try {
  const { report, output } = await runSchemathesis({ url: values.url, token: values.token });
  process.stdout.write(output);
  process.exitCode = report.exit_code;
} catch (error) {
  process.stderr.write(`schemathesis: ${(error as Error).message}\n`);
  process.exitCode = 1;
}
