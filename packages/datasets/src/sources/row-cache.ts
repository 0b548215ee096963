/** Blocks of a table's rows, read once and kept while there is room. */
import type { Row, Table } from '../table.ts';

/** Bytes of rows that are kept, even if no order comes back to them: a small data set is read once. */
const KEPT_BYTES = 2 ** 25;

interface Block {
  readonly rows: Promise<readonly Row[]>;
  /** 0 until it is read. */
  bytes: number;
}

/** Reads rows by number; rows of one block are read together. */
export class RowCache {
  readonly #table: Table;
  readonly #keptBlocks: number;
  /** By number, the least recently used first. */
  readonly #blocks = new Map<number, Block>();

  /** @param keptBlocks  blocks whose rows an order mixes: as many are kept, however large they are */
  constructor(table: Table, keptBlocks: number) {
    this.#table = table;
    this.#keptBlocks = keptBlocks;
  }

  /** The row of a number below `rowCount`. */
  async row(number: number): Promise<Row> {
    const { blockRows } = this.#table;
    const key = Math.floor(number / blockRows);
    let block = this.#blocks.get(key);
    if (block === undefined) {
      block = this.#open(key);
    } else {
      this.#blocks.delete(key);
      this.#blocks.set(key, block);
    }
    const rows = await block.rows;
    const row = rows[number - key * blockRows];
    if (row !== undefined) return row;
    return { address: `#${number}`, problem: 'the table ended before it' };
  }

  #open(key: number): Block {
    const { blockRows } = this.#table;
    const rows = this.#table.read(key * blockRows, (key + 1) * blockRows);
    const block: Block = { rows, bytes: 0 };
    this.#blocks.set(key, block);
    rows.then(
      (read) => {
        block.bytes = bytesOfRows(read);
        this.#makeRoom();
      },
      () => this.#blocks.delete(key),
    );
    return block;
  }

  #makeRoom(): void {
    let bytes = 0;
    for (const block of this.#blocks.values()) bytes += block.bytes;
    for (const [key, block] of this.#blocks) {
      if (bytes <= KEPT_BYTES || this.#blocks.size <= this.#keptBlocks) return;
      this.#blocks.delete(key);
      bytes -= block.bytes;
    }
  }
}

/** About the memory that rows take. */
export function bytesOfRows(rows: readonly Row[]): number {
  return rows.reduce((sum, row) => sum + bytesOf(row.fields), 0);
}

/** About the memory that a value takes. */
function bytesOf(value: unknown): number {
  if (typeof value === 'string') return 2 * value.length + 16;
  if (value === null || typeof value !== 'object') return 16;
  if (ArrayBuffer.isView(value)) return value.byteLength + 64;
  let bytes = 64;
  for (const one of Object.values(value)) bytes += bytesOf(one);
  return bytes;
}
