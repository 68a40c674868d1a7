import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { launch } from '../../harness/processes/launch.ts';
import { installedSchemathesis } from './installation.ts';

const CONFIGURATION = join(import.meta.dirname, 'schemathesis.toml');
const DOCUMENT = resolve(import.meta.dirname, '../../../docs/openapi.json');
const RUN_MS_MAX = 120_000;

export type SchemathesisOptions = {
  url: string;
  token: string;
  /** The committed one unless told otherwise. */
  document?: string;
  /** All phases unless told otherwise. */
  phases?: readonly string[];
};

/** The parts of schemathesis' own report that are judged. */
export type SchemathesisReport = {
  complete: boolean;
  exit_code: number;
  test_cases: { generated: number; unique_failures: number };
  failures: { title: string }[];
  errors: unknown[];
  valid_rates: Record<string, Record<string, { accepted: number; rejected: number }>>;
};

/**
 * Sends what the document allows and what it forbids to a running product, and holds each answer against the document.
 * @returns its report, and what it printed for people
 * @throws SchemathesisMissingError where it cannot be installed; Error when it ends without a report.
 */
export async function runSchemathesis(
  options: SchemathesisOptions,
): Promise<{ report: SchemathesisReport; output: string }> {
  const installation = await installedSchemathesis();
  const directory = await mkdtemp(join(tmpdir(), 'schemathesis-'));
  const reportFile = join(directory, 'report.json');
  try {
    const { stdout, stderr } = await launch(
      'python3',
      [
        ...['-m', 'schemathesis.cli', '--no-color', '--config-file', CONFIGURATION, 'run'],
        ...[options.document ?? DOCUMENT, '--url', options.url],
        ...(options.phases === undefined ? [] : ['--phases', options.phases.join(',')]),
        ...['--report', 'json', '--report-json-path', reportFile],
      ],
      {
        cwd: directory,
        environment: { PYTHONPATH: installation, PYTHONNOUSERSITE: '1', TOKEN: options.token },
        timeoutMs: RUN_MS_MAX,
      },
    ).ended;
    const output = stdout + stderr;
    const report = await readFile(reportFile, 'utf8').catch(() => {
      throw new Error(`schemathesis ended without a report:\n${output}`);
    });
    return { report: JSON.parse(report) as SchemathesisReport, output };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
