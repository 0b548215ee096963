/**
 * Chooses the tile of a kernel by the shape and the device, for all kernels. The choice never shows
 * in the bits of a row: a sum is one chain of multiply-adds in any tile, but for those of matrix
 * units, which are used for all rows or for none.
 *
 * Software adapters run threads four at a time on a CPU, where what is read costs more than what is
 * computed, so there fewer threads own more. Of the processor time that SwiftShader takes in the
 * tiles for GPUs, it then takes 0.6 for attention over 128 and 256 tokens of 4 heads of 64; products
 * have a tile of their own there.
 */
import type { KernelCall, KernelLimits, TileRows } from '../kernel.ts';
import type { TileShape } from './tile-product.ts';
import { type SumTile, tileThreads } from './tile-shape.ts';

/** 64 × 64 by 64 threads of 8 × 8: most sums for what is read. */
const MANY: SumTile = { rows: 64, columns: 64, depth: 16, rowsPerThread: 8, groupsPerThread: 2 };

/** For decoding, where the weights are read for few rows: deeper, so that fewer barriers wait. */
const FEW: SumTile = { rows: 16, columns: 64, depth: 32, rowsPerThread: 4, groupsPerThread: 1 };

/** A GPU hides what it waits for behind threads: as many as for 16 rows. */
const LEAST: SumTile = { rows: 4, columns: 64, depth: 32, rowsPerThread: 1, groupsPerThread: 1 };

/** Whether the threads of a quad read for each other: on a CPU, where they can. */
export const hasQuads = ({ isSoftware, hasSubgroups, subgroupMinSize }: KernelLimits): boolean =>
  isSoftware && hasSubgroups && subgroupMinSize >= 4;

/**
 * A tile whose threads read for themselves; see parts/direct-sums.ts. With 16 rows a thread a
 * product of 256³ took 0.85 of the time, its shader twice as long to compile.
 */
const onSoftware = (rows: TileRows, hasQuads: boolean): SumTile => ({
  rows,
  columns: 64,
  depth: 0,
  rowsPerThread: rows === 16 || rows === 64 ? 8 : rows,
  groupsPerThread: 4,
  hasQuads,
});

/** Rows that tiles are for, for who wants to force one. */
export const TILE_ROWS: readonly TileRows[] = [1, 4, 8, 16, 64];

/** The tile of one row is for one row alone: four rows that lie side by side are read at once. */
function rowsFor(rows: number, { tileRows }: KernelLimits): TileRows {
  if (tileRows === 1) return rows === 1 ? 1 : 4;
  return tileRows ?? TILE_ROWS.find((most) => rows <= most) ?? 64;
}

/** By matrix units: 128 threads hold four subgroups of at most 32. */
const UNITS: SumTile = { ...MANY, rowsPerThread: 4 };

/**
 * The tile for a product of this many rows. With matrix units it is theirs for any number, where the
 * factors are float16; `f32` says that one of them never is.
 */
export function tileFor(
  rows: number,
  { limits, storage }: Pick<KernelCall, 'limits' | 'storage'>,
  factors: 'stored' | 'f32' = 'stored',
): SumTile {
  const { isSoftware, matrixUnit } = limits;
  if (matrixUnit !== undefined && storage === 'f16' && factors === 'stored') {
    return { ...UNITS, unit: matrixUnit };
  }
  const wanted = rowsFor(rows, limits);
  if (isSoftware) return onSoftware(wanted, hasQuads(limits));
  switch (wanted) {
    // Reading the weights dominates, and every tile reads them once.
    case 1:
    case 4:
      return LEAST;
    case 8:
    case 16:
      return FEW;
    case 64:
      return MANY;
  }
}

/** Tells tiles apart. */
export const tileKey = (tile: SumTile): string =>
  `${tile.rows}x${tileThreads(tile)} ${tile.unit?.size ?? ''}${tile.hasQuads ? 'quads' : ''}`;

/** Keys that attention meets at once: of every tile, since a row's bits depend on it. */
export const KEYS = 32;

/** 64 rows by 128 threads; where heads have 128 elements, 64 registers of each hold outputs. */
const QUERIES: TileShape = {
  rows: 64,
  columns: KEYS,
  rowsPerThread: 4,
  width: 8,
  depth: KEYS,
  stepsAtOnce: 1,
};

/** Its rows are keys, its columns query rows. */
const KEYS_OF_GRADIENTS: TileShape = {
  rows: 32,
  columns: 64,
  rowsPerThread: 4,
  width: 8,
  depth: 16,
  stepsAtOnce: 1,
};

/** Few rows leave room to stage more, and with little to do between barriers that is what counts. */
const DECODING: TileShape = {
  rows: 16,
  columns: KEYS,
  rowsPerThread: 1,
  width: 16,
  depth: KEYS,
  stepsAtOnce: 2,
};

// All have a thread for each row and each column.

/** Where reads cost most, a weight read is used for two steps. */
const QUERIES_SOFTWARE: TileShape = { ...QUERIES, rowsPerThread: 8, depth: 16, stepsAtOnce: 2 };

/** The tile of attention and of the gradient of its queries. */
export const queryTile = ({ isSoftware }: KernelLimits): TileShape =>
  isSoftware ? QUERIES_SOFTWARE : QUERIES;

/** The tile of the gradients of keys and values. */
export const keyTile = ({ isSoftware }: KernelLimits): TileShape =>
  isSoftware ? { ...KEYS_OF_GRADIENTS, rowsPerThread: 8 } : KEYS_OF_GRADIENTS;

/** The tile of decoding, `ratio` query heads to a key head. A GPU needs the threads of 16 rows. */
export function decodingTile(ratio: number, { isSoftware }: KernelLimits): TileShape {
  if (!isSoftware) return DECODING;
  return ratio <= 4 ? { ...DECODING, rows: 4 } : { ...DECODING, rowsPerThread: 4 };
}

/** Tells tiles of attention apart. */
export const shapeKey = ({ rows, rowsPerThread }: TileShape): string => `${rows}/${rowsPerThread}`;
