/** The rows of a vision tower: which patch each is, and which rows attend to one another. */
import { formatShape, ShapeError } from '@saccade/core';
import type { Device } from '@saccade/ops';
import { type Tensor, tensor } from '@saccade/tensor';
import type { PatchGrid } from './vision-windows.ts';

/** Rows and columns of the patches of one grid. */
export interface PatchPlaces {
  /** [P] the row of each patch. */
  readonly rows: Int32Array;
  /** [P] the column of each patch. */
  readonly columns: Int32Array;
}

/**
 * The places of a grid's patches in merge order: units of mergeSize² row by row, and the patches of
 * a unit row by row.
 *
 * @throws ShapeError if units do not tile the grid
 */
export function mergeOrder(
  { height, width }: Pick<PatchGrid, 'height' | 'width'>,
  mergeSize: number,
): PatchPlaces {
  const columnsOfUnits = width / mergeSize;
  if (!Number.isInteger(columnsOfUnits) || height % mergeSize !== 0) {
    throw new ShapeError(
      `An image of ${height}×${width} patches cannot be divided into units of ${mergeSize}×` +
        `${mergeSize}. Resize it to a multiple of ${mergeSize} patches.`,
    );
  }
  const rows = new Int32Array(height * width);
  const columns = new Int32Array(height * width);
  const area = mergeSize ** 2;
  for (let i = 0; i < rows.length; i++) {
    const unit = Math.floor(i / area);
    const inside = i % area;
    rows[i] = Math.floor(unit / columnsOfUnits) * mergeSize + Math.floor(inside / mergeSize);
    columns[i] = (unit % columnsOfUnits) * mergeSize + (inside % mergeSize);
  }
  return { rows, columns };
}

/** Arrays of all grids, one after another, that of each frame once more. */
export function overFrames<Values extends Int32Array | Float32Array>(
  grids: readonly PatchGrid[],
  of: (grid: PatchGrid) => Values,
): Values {
  const parts = grids.flatMap((grid) => new Array<Values>(grid.frames).fill(of(grid)));
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const Kind = (parts[0]?.constructor ?? Int32Array) as new (length: number) => Values;
  const all = new Kind(length);
  let offset = 0;
  for (const part of parts) {
    all.set(part, offset);
    offset += part.length;
  }
  return all;
}

/** Patches of each frame. */
export function frameSizes(grids: readonly PatchGrid[]): readonly number[] {
  return grids.flatMap(({ frames, height, width }) => new Array(frames).fill(height * width));
}

/** @throws ShapeError unless there is one row of patches per patch of the grids */
export function expectPatches(patches: Tensor, count: number): void {
  if (patches.shape[0] === count) return;
  throw new ShapeError(
    `The grids have ${count} patches, but patches are ${formatShape(patches.shape)}. ` +
      'Pass one row per patch.',
  );
}

export function indexTensor(device: Device, index: Int32Array): Tensor {
  return tensor(device, 'i32', [index.length], index);
}

/** A segment plan of independent segments: [S, 3] start, end, no parent. */
export function separateSegments(device: Device, sizes: readonly number[]): Tensor {
  const segments = new Int32Array(sizes.length * 3);
  let start = 0;
  for (const [s, size] of sizes.entries()) {
    segments.set([start, start + size, -1], s * 3);
    start += size;
  }
  return tensor(device, 'i32', [sizes.length, 3], segments);
}
