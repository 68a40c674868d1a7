import { type FileHandle, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Anchor, readAnchor } from '@plant-store/audit/ledger/anchor';
import { type AnchorKeys, publicKeyOf, readPublicKeys } from '@plant-store/audit/ledger/anchor-keys';
import { mongoLedger } from '@plant-store/audit/mongo/mongo-ledger';
import { checkProof } from '@plant-store/audit/proof/proof';
import { faultLine } from '@plant-store/audit/verification/fault';
import { readEnvironment } from '@plant-store/platform/configuration/configuration';
import { Command } from 'commander';
import { str } from 'envalid';
import { provePlant } from '../audit/prove.ts';
import { type Verification, verifyLog } from '../audit/verify-log.ts';
import { CommandError } from './failures.ts';
import { count, plantId, printJson, printLine, time } from './output.ts';
import { createProgress } from './progress.ts';
import { type OpenDatabase, openDatabase } from './system.ts';

/** Anchors are made each minute: when the newest is older than this, the command says so. */
const ANCHOR_LATE_MS = 5 * 60_000;
const FAULTS_SHOWN_MAX = 20;

export function auditCommands(): Command {
  return new Command('audit')
    .description('Verifies the audit log, and proves what is in it.')
    .helpCommand(false)
    .addCommand(verifyCommand())
    .addCommand(proveCommand())
    .addCommand(checkProofCommand())
    .addCommand(publicKeyCommand());
}

type VerifyOptions = { anchors?: string; since?: Date; key?: string[]; json?: true };

function verifyCommand(): Command {
  return new Command('verify')
    .description(
      'Verifies blocks, chains, anchors, and the log against the plants both ways. Exits with 0 when all of it fits, 1 ' +
        'when something does not, 2 when it could not be verified.',
    )
    .option('--anchors <file>', 'anchors that were kept outside the database, a line each')
    .option(
      '--since <time>',
      'from the last anchor before this time on, which vouches for what was before',
      time,
    )
    .option(
      '--key <file...>',
      'public keys that anchors are signed with, in PEM; the local system has its own',
    )
    .option('--json', 'the answer as JSON')
    .action(async ({ anchors, since, key, json }: VerifyOptions) => {
      await using opened = await openDatabase();
      const keys = await publicKeys(key, opened);
      if (keys.size === 0 && (await mongoLedger(opened.database).lastAnchor()) !== undefined) {
        throw new CommandError('anchors are signed: name the public key with --key');
      }
      const started = performance.now();
      let verification: Verification;
      {
        using progress = createProgress();
        verification = await verifyLog(opened.database, {
          keys,
          ...(anchors && { shipped: await shippedAnchors(anchors) }),
          ...(since && { since }),
          onProgress: progress.at,
        });
      }
      const seconds = (performance.now() - started) / 1_000;
      if (json) printJson({ ok: verification.faults.length === 0, seconds, ...verification });
      else printVerification(verification, seconds);
      if (verification.faults.length > 0) process.exitCode = 1;
    });
}

function printVerification(verification: Verification, seconds: number): void {
  const { faults, moreFaults, chains, blocks, entries, anchors, plants, lastAnchor } = verification;
  const [first] = faults;
  const what =
    `${count(entries)} entries in ${count(blocks)} blocks of ${chains} chains, ${count(anchors)} anchors and ` +
    `${count(plants)} plants in ${seconds.toFixed(1)} s`;
  if (first === undefined) {
    printLine(`verified: ${what}`);
  } else {
    printLine(`FAULT at ${faultLine(first)}`);
    for (const fault of faults.slice(1, FAULTS_SHOWN_MAX)) printLine(`also ${faultLine(fault)}`);
    const more = moreFaults + Math.max(0, faults.length - FAULTS_SHOWN_MAX);
    if (more > 0) printLine(`and ${count(more)} more`);
    printLine(`read: ${what}`);
  }
  if (lastAnchor === undefined) {
    printLine(
      'note: there are no anchors, so a tail that was cut off cannot be found (AUDIT_ANCHOR_KEY of the workers)',
    );
  } else if (Date.now() - Date.parse(lastAnchor.time) > ANCHOR_LATE_MS) {
    printLine(`note: the newest anchor is late: it was made at ${lastAnchor.time}`);
  }
}

function proveCommand(): Command {
  return new Command('prove')
    .description(
      'Prints the proof that a plant was audited as it is, as JSON: docs/audit-format.md describes it.',
    )
    .requiredOption('--id <id>', 'the id of the plant', plantId)
    .action(async ({ id }: { id: bigint }) => {
      await using opened = await openDatabase();
      const answer = await provePlant(opened.database, id);
      if (answer.outcome === 'proof') return printJson(answer.proof);
      const reasons = {
        'no plant': `there is no plant ${id}`,
        'not audited': `plant ${id} is in no block of the audit log yet`,
        'not anchored': `no anchor names the block of plant ${id} yet: the next one is made within a minute`,
      };
      throw new CommandError(reasons[answer.outcome], 1);
    });
}

function checkProofCommand(): Command {
  return new Command('check-proof')
    .description(
      'Checks a proof with the public key alone, without the database. Exits with 0, 1 or 2 as verify does.',
    )
    .argument('<file>', 'the proof, as prove printed it')
    .requiredOption('--key <file...>', 'public keys that anchors are signed with, in PEM')
    .option('--json', 'the answer as JSON')
    .action(async (file: string, { key, json }: { key: string[]; json?: true }) => {
      const proof = parsed(await contentOf(file), file);
      const fault = checkProof(proof, await readKeys(key));
      if (json) printJson({ ok: fault === undefined, ...(fault !== undefined && { fault }) });
      else if (fault === undefined) printLine(told(proof));
      else printLine(`FAULT: ${fault}`);
      if (fault !== undefined) process.exitCode = 1;
    });
}

const keySettings = { AUDIT_ANCHOR_KEY: str() };

function publicKeyCommand(): Command {
  return new Command('public-key')
    .description(
      'Prints the public key of AUDIT_ANCHOR_KEY (or AUDIT_ANCHOR_KEY_FILE), in PEM: what verify and check-proof take as --key.',
    )
    .action(() => {
      const { AUDIT_ANCHOR_KEY } = readEnvironment(process.env, keySettings);
      try {
        printLine(publicKeyOf(AUDIT_ANCHOR_KEY).trim());
      } catch (error) {
        throw new CommandError(`AUDIT_ANCHOR_KEY ${(error as Error).message}`);
      }
    });
}

function told(proof: unknown): string {
  const { plant, entry, anchor } = proof as {
    plant: { id: string };
    entry: { when: string };
    anchor: Anchor;
  };
  return `proved: plant ${plant.id} was created at ${entry.when} as it is in the proof, and audited before ${anchor.time}`;
}

async function publicKeys(
  files: string[] | undefined,
  { addresses: { dataDir } }: OpenDatabase,
): Promise<AnchorKeys> {
  if (files !== undefined) return readKeys(files);
  return dataDir === undefined ? new Map() : readKeys([join(dataDir, 'anchor-key.pub.pem')]);
}

async function readKeys(files: readonly string[]): Promise<AnchorKeys> {
  const keys: AnchorKeys[] = [];
  for (const file of files) {
    const pem = await contentOf(file);
    try {
      keys.push(readPublicKeys(pem));
    } catch (error) {
      throw new CommandError(`${file} ${(error as Error).message}`);
    }
  }
  return new Map(keys.flatMap((some) => [...some]));
}

async function contentOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new CommandError(`${file} cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}

function parsed(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new CommandError(`${file} holds no JSON`);
  }
}

/** Lines that are no anchors are skipped: with `stdout` as output, anchors are mixed with log lines. */
async function shippedAnchors(file: string): Promise<AsyncIterable<Anchor>> {
  const handle = await open(file).catch(() => {
    throw new CommandError(`${file} cannot be read`);
  });
  return anchorLines(handle);
}

/** A generator, so that reading starts with the first iteration: readline drops lines that it reads earlier. */
async function* anchorLines(handle: FileHandle): AsyncIterable<Anchor> {
  for await (const line of handle.readLines()) {
    const anchor = readAnchor(jsonOf(line));
    if (anchor !== undefined) yield anchor;
  }
}

function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
