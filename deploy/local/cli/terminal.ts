import { styleText } from 'node:util';

const NAME_WIDTH = 14;

/** A closed pipe (`npm start | head`) does not end the system. */
process.stdout.on('error', () => {});

/** Lines for the person in front of it; coloured where a terminal shows colours. */
export const terminal = {
  title: (text: string) => write(`\n${styleText('bold', text)}\n\n`),
  row: (name: string, text: string) => write(`  ${styleText('dim', name.padEnd(NAME_WIDTH))}${text}\n`),
  line: (text = '') => write(text === '' ? '\n' : `  ${text}\n`),
  /** Something happened while the system runs. */
  event: (text: string) => write(`  ${styleText('dim', new Date().toLocaleTimeString('en-GB'))}  ${text}\n`),
  good: (text: string) => write(`\n  ${styleText('green', text)}\n\n`),
  failure: (text: string) =>
    process.stderr.write(`${styleText('red', 'plant-store:', { stream: process.stderr })} ${text}\n`),
};

function write(text: string): void {
  process.stdout.write(text);
}
