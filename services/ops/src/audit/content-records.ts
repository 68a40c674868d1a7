import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The id of a plant and the hash of its content. */
export type ContentRecord = { plant: bigint; content: string };

const ID_BYTES = 8;
const RECORD_BYTES = ID_BYTES + 32;
const PARTITIONS = 256;
const BUFFERED_BYTES = 64 * RECORD_BYTES * 8;

/**
 * Two sets of records, compared with bounded memory: they are spilled to temporary files by the first byte of the hash,
 * 40 bytes a record, and compared a 256th at a time.
 */
export class ContentComparison implements Disposable {
  readonly #directory = mkdtempSync(join(tmpdir(), 'plant-store-audit-'));
  readonly #left = new Spill(this.#directory, 'left');
  readonly #right = new Spill(this.#directory, 'right');

  addLeft(record: ContentRecord): void {
    this.#left.add(record);
  }

  addRight(record: ContentRecord): void {
    this.#right.add(record);
  }

  /** Records that one side has more often than the other. */
  *differences(): Iterable<{ side: 'left' | 'right'; record: ContentRecord }> {
    for (let partition = 0; partition < PARTITIONS; partition++) {
      const counts = new Map<string, number>();
      for (const record of this.#left.read(partition)) counts.set(record, (counts.get(record) ?? 0) + 1);
      for (const record of this.#right.read(partition)) {
        const count = (counts.get(record) ?? 0) - 1;
        if (count === 0) counts.delete(record);
        else counts.set(record, count);
      }
      for (const [record, count] of counts) {
        yield { side: count > 0 ? 'left' : 'right', record: decode(record) };
      }
    }
  }

  [Symbol.dispose](): void {
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

/** One side, in files of its own. */
class Spill {
  readonly #path: string;
  readonly #buffers: Buffer[] = [];
  readonly #used = new Array<number>(PARTITIONS).fill(0);

  constructor(directory: string, name: string) {
    this.#path = join(directory, name);
  }

  add({ plant, content }: ContentRecord): void {
    const partition = Number.parseInt(content.slice(0, 2), 16);
    this.#buffers[partition] ??= Buffer.allocUnsafe(BUFFERED_BYTES);
    const buffer = this.#buffers[partition] as Buffer;
    const used = this.#used[partition] as number;
    buffer.writeBigInt64BE(plant, used);
    buffer.write(content, used + ID_BYTES, 'hex');
    this.#used[partition] = used + RECORD_BYTES;
    if (this.#used[partition] === BUFFERED_BYTES) this.#flush(partition);
  }

  /** The records of a partition, each as text of as many characters as it has bytes. */
  *read(partition: number): Iterable<string> {
    if (this.#buffers[partition] === undefined) return;
    this.#flush(partition);
    const records = readFileSync(`${this.#path}-${partition}`, 'latin1');
    for (let start = 0; start < records.length; start += RECORD_BYTES) {
      yield records.slice(start, start + RECORD_BYTES);
    }
  }

  #flush(partition: number): void {
    const buffer = this.#buffers[partition] as Buffer;
    appendFileSync(`${this.#path}-${partition}`, buffer.subarray(0, this.#used[partition]));
    this.#used[partition] = 0;
  }
}

function decode(record: string): ContentRecord {
  const bytes = Buffer.from(record, 'latin1');
  return { plant: bytes.readBigInt64BE(), content: bytes.toString('hex', ID_BYTES) };
}
