/** Random forests of segments and random attention shapes, for tests and benches. */
import type { Random } from '@saccade/core';
import type { OpCase } from '@saccade/ops';

const MAX_DEPTH = 3;

/**
 * [S, 3] segments that tile [0, T): random lengths of at least 1, roots and children down to
 * three levels, in depth-first pre-order.
 */
export function drawSegments(T: number, S: number, random: Random): Int32Array {
  const cuts = random
    .shuffle(Array.from({ length: T - 1 }, (_, i) => i + 1))
    .slice(0, S - 1)
    .sort((a, b) => a - b);
  const rows: number[] = [];
  const path: number[] = [];
  for (let s = 0; s < S; s++) {
    // Keep a random stretch of the path to the segment before: none of it makes a new root.
    path.length = random.integer(Math.min(path.length, MAX_DEPTH - 1) + 1);
    rows.push(cuts[s - 1] ?? 0, cuts[s] ?? T, path.at(-1) ?? -1);
    path.push(s);
  }
  return Int32Array.from(rows);
}

/** A random attention case around the sizes where kernels have edges. */
export function drawCase(random: Random): OpCase {
  const T = random.pick([1, 2, 7, 15, 16, 17, 31, 33, 63, 64, 65, 97, 127, 128, 129, 150]);
  const G = random.pick([1, 1, 2, 3]);
  const H = G * random.pick([1, 2, 4, 7]);
  const D = random.pick([2, 5, 8, 16, 24, 32, 40, 64]);
  const S = 1 + random.integer(Math.min(T, 12));
  return {
    dims: { T, H, G, D, S, P: 3 },
    scalars: {
      causal: random.pick([0, 1, 1]),
      scale: random.pick([0, 0, 0.3, 1]),
      window: random.pick([0, 0, 0, 1, 15, 63, 64, 70]),
    },
  };
}
