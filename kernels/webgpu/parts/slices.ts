/** Arrays beyond what one binding holds, cut into slices of whole rows. */
import type { GpuArray, KernelCall } from '../kernel.ts';

/** How many rows of `rowBytes` one binding holds: a multiple of `unit`, and at least one of it. */
export function rowsPerBinding(call: KernelCall, rowBytes: number, unit: number): number {
  // Rows may be empty; infinitely many of them would have no place to begin at.
  return Math.max(1, Math.floor(call.limits.bindingBytes / Math.max(1, rowBytes) / unit)) * unit;
}

/** Indices [start, end). */
export interface Piece {
  readonly start: number;
  readonly end: number;
}

/** [0, length) in pieces of `step`. */
export function pieces(length: number, step: number): readonly Piece[] {
  return Array.from({ length: Math.ceil(length / step) }, (_, i) => ({
    start: i * step,
    end: Math.min(length, (i + 1) * step),
  }));
}

export const bytesOfStored = (call: KernelCall): number => (call.storage === 'f16' ? 2 : 4);

/** An array in slices of equally many rows, but for the last. */
export interface Slices {
  readonly arrays: readonly GpuArray[];
  /** Rows of all but the last, which may have fewer. */
  readonly each: number;
}

/**
 * An array [rows, width] in as few slices as one binding each holds, bound side by side. With
 * `most` of them the slices may still be too big: then the device's refusal says so.
 */
export function slicesOf(
  call: KernelCall,
  array: GpuArray,
  rows: number,
  width: number,
  most: number,
): Slices {
  const fitting = rowsPerBinding(call, width * bytesOfStored(call), 1);
  const each = Math.max(1, fitting, Math.ceil(rows / Math.max(1, most)));
  if (each >= rows) return { arrays: [array], each: Math.max(1, rows) };
  const arrays = pieces(rows, each).map(({ start, end }) =>
    array.slice(start * width, end * width),
  );
  return { arrays, each };
}
