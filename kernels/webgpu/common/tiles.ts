/** Which tile a product is made in: the one place where that is decided. */
import type { KernelLimits, TileRows } from '../kernel.ts';
import { type SumTile, tileThreads } from './sum-tile.ts';

/** 64 × 64 by 64 threads of 8 × 8: most sums for what is read. */
const MANY: SumTile = { rows: 64, columns: 64, depth: 16, rowsPerThread: 8, groupsPerThread: 2 };

/** For decoding, where the weights are read for few rows: deeper, so that fewer barriers wait. */
const FEW: SumTile = { rows: 16, columns: 64, depth: 32, rowsPerThread: 4, groupsPerThread: 1 };

/** A GPU hides what it waits for behind threads: as many as for 16 rows. */
const LEAST: SumTile = { rows: 4, columns: 64, depth: 32, rowsPerThread: 1, groupsPerThread: 1 };

/** Software runs threads one after the other: fewer that each do more. */
const LEAST_SOFTWARE: SumTile = { ...LEAST, rowsPerThread: 4 };

/** Rows of the tiles there are, for who wants to force one. */
export const TILE_ROWS: readonly TileRows[] = [4, 16, 64];

/**
 * The tile for a product of this many rows. The choice never shows in the bits, which are those of
 * one chain of multiply-adds in any tile.
 */
export function tileFor(rows: number, { tileRows, isSoftware }: KernelLimits): SumTile {
  const wanted = tileRows ?? (rows <= 4 ? 4 : rows <= 16 ? 16 : 64);
  if (wanted === 64) return MANY;
  if (wanted === 16) return FEW;
  return isSoftware ? LEAST_SOFTWARE : LEAST;
}

/** Tells tiles apart. */
export const tileKey = (tile: SumTile): string => `${tile.rows}x${tileThreads(tile)}`;
