/** A square table of learned positions, interpolated to the grid of an image. */
import type { Device } from '@saccade/ops';
import { gatherRows, type Tensor, tensor, weightedSum } from '@saccade/tensor';
import { indexTensor, mergeOrder, overFrames } from './vision-rows.ts';
import type { PatchGrid } from './vision-windows.ts';

/** Rows of the table that a patch reads: two by two around its place. */
const TAPS = 4;

/**
 * Positions of all patches in merge order: [P, hidden]. The corners of a grid lie on the corners of
 * the table, and between its rows it is bilinear, as `interpolate(mode="bilinear",
 * align_corners=True)` of torch is. The numbers are rounded to float32 where torch rounds.
 *
 * @param table  [side², hidden], row by row
 */
export function interpolatedPositions(
  device: Device,
  table: Tensor,
  grids: readonly PatchGrid[],
  mergeSize: number,
): Tensor {
  const [places = 0, hidden = 0] = table.shape;
  const side = Math.round(Math.sqrt(places));
  const taps = new Map(grids.map((grid) => [grid, tapsOf(grid, side, mergeSize)] as const));
  const of = (grid: PatchGrid) => taps.get(grid) as Taps;
  const index = overFrames(grids, (grid) => of(grid).index);
  const weights = overFrames(grids, (grid) => of(grid).weights);
  const patches = index.length / TAPS;
  const rows = gatherRows(table, indexTensor(device, index)).reshape([patches, TAPS, hidden]);
  return weightedSum(rows, tensor(device, 'f32', [patches, TAPS], weights));
}

interface Taps {
  /** [P·4] rows of the table. */
  readonly index: Int32Array;
  /** [P·4] their weights. */
  readonly weights: Float32Array;
}

function tapsOf(grid: PatchGrid, side: number, mergeSize: number): Taps {
  const { rows, columns } = mergeOrder(grid, mergeSize);
  const index = new Int32Array(rows.length * TAPS);
  const weights = new Float32Array(rows.length * TAPS);
  for (let i = 0; i < rows.length; i++) {
    const across = axisTaps(columns[i] as number, grid.width, side);
    const down = axisTaps(rows[i] as number, grid.height, side);
    for (let tap = 0; tap < TAPS; tap++) {
      const [y, x] = [tap >> 1, tap & 1];
      index[i * TAPS + tap] = (down.at[y] as number) * side + (across.at[x] as number);
      weights[i * TAPS + tap] = (down.weights[y] as number) * (across.weights[x] as number);
    }
  }
  return { index, weights };
}

/** The two places of an axis of `side` that place `i` of `size` lies between. */
function axisTaps(i: number, size: number, side: number) {
  const source = Math.fround((i * (side - 1)) / Math.max(1, size - 1));
  const first = Math.floor(source);
  const share = Math.fround(source - first);
  return {
    at: [first, Math.min(side - 1, first + 1)],
    weights: [Math.fround(1 - share), share],
  };
}
