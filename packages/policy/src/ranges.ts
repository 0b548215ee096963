/** Checks of indices at the public door: kernels trust them. */
import { DataError } from '@saccade/core';

/** @throws DataError naming the first of `values` outside [first, end) */
export function expectRange(what: string, values: Int32Array, first: number, end: number): void {
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number;
    if (value >= first && value < end) continue;
    throw new DataError(
      `${what} ${i} is ${value}, it must be ${first} to ${end - 1}. ` +
        "Pass what this policy's own processor gives.",
    );
  }
}
