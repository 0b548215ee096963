/** The noise of the ops that sample: a standard Gumbel number for each row and vocabulary index. */
import { philox4x32, unitOpen, type Words2, type Words4 } from '@saccade/core';
import type { Values } from '@saccade/ops';

/** The standard Gumbel number at vocabulary index j of row n; keys [N, 4]. */
export function gumbel(keys: Values[string], n: number, j: number): number {
  const word = (i: number): number => keys[4 * n + i] >>> 0;
  const counter: Words4 = [Math.floor(j / 4), word(2), word(3), 0];
  const key: Words2 = [word(0), word(1)];
  return -Math.log(-Math.log(unitOpen(philox4x32(counter, key)[j % 4] as number)));
}
