import { describe, expect, it } from 'vitest';
import { RowOrder } from '../mixture/permutation.ts';
import { RowSet } from '../mixture/row-set.ts';
import type { Row, Table } from '../table.ts';
import { bytesOfRows, RowCache } from './row-cache.ts';

const BLOCK_ROWS = 50;
const BLOCKS = 120;
const WINDOW = 8;

/** Rows of about so many bytes, and the number of times that each block was read. */
function countedTable(rowBytes: number): {
  readonly table: Table;
  readonly reads: readonly number[];
} {
  const reads = new Array<number>(BLOCKS).fill(0);
  const text = 'x'.repeat(rowBytes / 2);
  const rowAt = (number: number): Row => ({ address: `#${number}`, fields: { number, text } });
  const table: Table = {
    rowCount: BLOCKS * BLOCK_ROWS,
    blockRows: BLOCK_ROWS,
    columns: [],
    root: '',
    async read(start, end) {
      const block = start / BLOCK_ROWS;
      reads[block] = (reads[block] ?? 0) + 1;
      return Array.from({ length: end - start }, (_, i) => rowAt(start + i));
    },
    async dispose() {},
  };
  return { table, reads };
}

describe('a shuffled pass', () => {
  // Windows of 6 MB, and of 50 MB, more than is kept of rows that are read in order.
  const sizes = [2 ** 14, 2 ** 17];

  it.each(sizes)('reads each block of rows of %d bytes once', async (rowBytes) => {
    const { table, reads } = countedTable(rowBytes);
    const cache = new RowCache(table, 3 * WINDOW);
    const options = { rowCount: table.rowCount, blockRows: BLOCK_ROWS, windowBlocks: WINDOW };
    const order = new RowOrder(options, 1, 'pass');
    let wrong = 0;
    for (let place = 0; place < table.rowCount; place++) {
      const number = order.at(place);
      if ((await cache.row(number)).fields?.number !== number) wrong++;
    }
    expect(wrong).toBe(0);
    expect(new Set(reads)).toEqual(new Set([1]));
  });

  it.each(sizes)('reads it at most twice where rows are held out', async (rowBytes) => {
    const { table, reads } = countedTable(rowBytes);
    const cache = new RowCache(table, 3 * WINDOW);
    const kept = new RowSet(table.rowCount);
    // Seven rows in a hundred, anywhere: blocks of those that are left begin inside blocks of the table.
    for (let row = 0; row < table.rowCount; row++) if ((row * 37) % 100 >= 7) kept.add(row);
    const options = { rowCount: kept.count, blockRows: BLOCK_ROWS, windowBlocks: WINDOW };
    const order = new RowOrder(options, 1, 'pass');
    for (let place = 0; place < kept.count; place++) await cache.row(kept.at(order.at(place)));
    expect(Math.max(...reads)).toBeLessThanOrEqual(2);
  });
});

describe('what is kept', () => {
  /** Blocks that need no second read after all were read in order. */
  async function keptBlocks(rowBytes: number): Promise<number> {
    const { table, reads } = countedTable(rowBytes);
    const cache = new RowCache(table, 3 * WINDOW);
    for (let block = 0; block < BLOCKS; block++) await cache.row(block * BLOCK_ROWS);
    for (let kept = 0; kept < BLOCKS; kept++) {
      const block = BLOCKS - 1 - kept;
      await cache.row(block * BLOCK_ROWS);
      if (reads[block] === 2) return kept;
    }
    return BLOCKS;
  }

  it('is 32 MiB of small rows', async () => {
    const { table } = countedTable(2 ** 14);
    const blockBytes = bytesOfRows(await table.read(0, BLOCK_ROWS));
    expect(await keptBlocks(2 ** 14)).toBe(Math.floor(2 ** 25 / blockBytes));
  });

  it('is the blocks that are mixed where their rows are large', async () => {
    expect(await keptBlocks(2 ** 17)).toBe(3 * WINDOW);
  });
});
