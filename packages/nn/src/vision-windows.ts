/** Divides images into the vision tower's attention windows, and orders their patches by window. */
import { ShapeError } from '@saccade/core';

/** Size of one image or clip in patches; height and width are multiples of the merge size. */
export interface PatchGrid {
  readonly frames: number;
  readonly height: number;
  readonly width: number;
}

/** Sizes of windows, patches and units of merged patches, the same on both axes. */
export interface WindowOptions {
  /** Side of an attention window, pixels. */
  readonly windowSize: number;
  /** Side of a patch, pixels. */
  readonly patchSize: number;
  /** Patches per side of a merged unit. */
  readonly mergeSize: number;
}

/**
 * The order of units in which each window is contiguous. A unit is `mergeSize`² patches and is
 * never divided. U: units, P: patches.
 */
export interface WindowLayout {
  /** [U] the unit at each place of window order. */
  readonly order: Int32Array;
  /** [U] the place of each unit: the inverse of `order`. */
  readonly inverse: Int32Array;
  /** True if window order is the given order. */
  readonly isIdentity: boolean;
  /** Patches of each window, in window order. */
  readonly windowSizes: readonly number[];
  /** Patches of each frame. */
  readonly frameSizes: readonly number[];
  /** [P] row and column of each patch within its frame, in window order. */
  readonly rows: Int32Array;
  readonly columns: Int32Array;
}

/**
 * Computes the windows of a batch of images. Patches are given unit by unit, units row by row,
 * frames and images one after another. Windows start at each frame's top left; those at the right
 * and bottom edges are smaller. Qwen2.5-VL, arXiv:2502.13923, section 2.1.1.
 *
 * @throws ShapeError if units do not tile an image, or a window is smaller than a unit
 */
export function windowLayout(grids: readonly PatchGrid[], options: WindowOptions): WindowLayout {
  const { windowSize, patchSize, mergeSize } = options;
  const side = Math.floor(windowSize / patchSize / mergeSize);
  if (side < 1) {
    throw new ShapeError(
      `A window of ${windowSize} pixels is smaller than a unit of ${mergeSize}×${mergeSize} ` +
        `patches of ${patchSize} pixels. Make windowSize at least ${mergeSize * patchSize}.`,
    );
  }
  const order: number[] = [];
  const windowSizes: number[] = [];
  const frameSizes: number[] = [];
  const rows: number[] = [];
  const columns: number[] = [];
  const placeUnit = (unit: number, unitRow: number, unitColumn: number) => {
    order.push(unit);
    for (let patch = 0; patch < mergeSize ** 2; patch++) {
      rows.push(unitRow * mergeSize + Math.floor(patch / mergeSize));
      columns.push(unitColumn * mergeSize + (patch % mergeSize));
    }
  };
  let firstUnit = 0;
  for (const { frames, height, width } of grids) {
    const unitRows = height / mergeSize;
    const unitColumns = width / mergeSize;
    if (!Number.isInteger(unitRows) || !Number.isInteger(unitColumns)) {
      throw new ShapeError(
        `An image of ${height}×${width} patches cannot be divided into units of ${mergeSize}×` +
          `${mergeSize}. Resize it to a multiple of ${mergeSize} patches.`,
      );
    }
    for (let frame = 0; frame < frames; frame++, firstUnit += unitRows * unitColumns) {
      for (let top = 0; top < unitRows; top += side) {
        for (let left = 0; left < unitColumns; left += side) {
          const bottom = Math.min(top + side, unitRows);
          const right = Math.min(left + side, unitColumns);
          for (let row = top; row < bottom; row++) {
            for (let column = left; column < right; column++) {
              placeUnit(firstUnit + row * unitColumns + column, row, column);
            }
          }
          windowSizes.push((bottom - top) * (right - left) * mergeSize ** 2);
        }
      }
      frameSizes.push(height * width);
    }
  }
  const inverse = new Int32Array(order.length);
  for (const [place, unit] of order.entries()) inverse[unit] = place;
  return {
    order: Int32Array.from(order),
    inverse,
    isIdentity: order.every((unit, place) => unit === place),
    windowSizes,
    frameSizes,
    rows: Int32Array.from(rows),
    columns: Int32Array.from(columns),
  };
}
