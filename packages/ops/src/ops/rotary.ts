/** Rotary position embedding from tables of cosines and sines. */
import type { Random } from '@saccade/core';
import {
  type Cost,
  type CostCall,
  type Dims,
  defineOp,
  FLOATS,
  type Part,
  type Values,
  WIDE_FLOATS,
} from '../op.ts';
import { selectRows } from '../select-rows.ts';

/** Rotates the pairs (x[e], x[e + E]) of every head by ±the table's angles. */
function rotate(
  x: Values[string],
  cos: Values[string],
  sin: Values[string],
  { T, H, D, E }: Dims,
  sign: 1 | -1,
): Float64Array {
  const y = new Float64Array(T * H * D);
  for (let t = 0; t < T; t++) {
    for (let h = 0; h < H; h++) {
      for (let e = 0; e < E; e++) {
        const first = (t * H + h) * D + e;
        const c = cos[t * E + e];
        const s = sign * sin[t * E + e];
        y[first] = x[first] * c - x[first + E] * s;
        y[first + E] = x[first + E] * c + x[first] * s;
      }
    }
  }
  return y;
}

/** The inverse rotation costs the same. */
function rotationCost({ T, H, D, E }: Dims, { bytesPerElement: size }: CostCall): Cost {
  return { flops: 3 * T * H * D, bytes: (2 * T * H * D + 2 * T * E) * size };
}

/**
 * y₁ = x₁∘cos − x₂∘sin,  y₂ = x₂∘cos + x₁∘sin,  with x₁, x₂ the halves of a head
 *
 *   ∂x is ∂y rotated back
 *
 * Su et al. 2021, arXiv:2104.09864, in the half-split pairing that Hugging Face models use.
 * M-RoPE and the 2-D rotation of a vision tower differ only in the tables.
 *
 * x [T, H, D]; cos, sin [T, E], E = D/2, constants, never bf16: the error of an angle rotates a
 * whole head.
 */
export const rotary = defineOp({
  id: 'rotary',
  inputs: {
    x: { axes: ['T', 'H', 'D'], dtypes: FLOATS, grad: true },
    cos: { axes: ['T', 'E'], dtypes: WIDE_FLOATS },
    sin: { axes: ['T', 'E'], dtypes: WIDE_FLOATS },
  },
  outputs: { y: { axes: ['T', 'H', 'D'], dtypes: FLOATS, grad: true } },
  scalars: {},

  check: ({ D, E }) =>
    D === 2 * E
      ? undefined
      : `the tables hold ${E} angles for heads of ${D}; one angle turns two elements. ` +
        `Pass tables of [T, ${D / 2}].`,
  forward: ({ x, cos, sin }, dims) => ({ y: rotate(x, cos, sin, dims, 1) }),
  backward: ({ y: dy }, { cos, sin }, dims) => ({ x: rotate(dy, cos, sin, dims, -1) }),

  sample({ T, E }: Dims, random: Random) {
    const angles = Float64Array.from({ length: T * E }, () => 2 * Math.PI * random.uniform());
    return { cos: angles.map(Math.cos), sin: angles.map(Math.sin) };
  },
  tolerance: { f32: 1e-5, bf16: 6e-3, f16: 1e-3 },
  gradTolerance: { f32: 1e-5, bf16: 1e-2, f16: 2e-3 },
  cases: [
    { dims: { T: 1, H: 1, D: 2, E: 1 } },
    { dims: { T: 3, H: 5, D: 6, E: 3 } },
    { dims: { T: 7, H: 2, D: 80, E: 40 } },
    { dims: { T: 65, H: 3, D: 32, E: 16 } },
  ],
  fuzz(random) {
    const E = 1 + random.integer(40);
    return { dims: { T: 1 + random.integer(70), H: 1 + random.integer(8), D: 2 * E, E } };
  },
  part: (inputs, dims, _, random): Part => selectRows(rotary, 'T', inputs, dims, random),
  benchCases: [{ dims: { T: 2048, H: 16, D: 128, E: 64 } }],
  cost: rotationCost,
  backwardCost: rotationCost,
});
