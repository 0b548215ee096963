/** The gated activation of a SwiGLU feed-forward layer. */
import { defineOp, FLOATS, type Part } from '../op.ts';
import { selectRows } from '../select-rows.ts';

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));

/**
 * y = silu(gate) ∘ up,  silu(x) = x·σ(x)
 *
 *   ∂gate = ∂y∘up∘σ∘(1 + gate∘(1 − σ))      ∂up = ∂y∘silu(gate),  σ = σ(gate)
 *
 * Shazeer 2020, arXiv:2002.05202, eq. 6 without the projections. gate, up [N, D].
 */
export const swiglu = defineOp({
  id: 'swiglu',
  inputs: {
    gate: { axes: ['N', 'D'], dtypes: FLOATS, grad: true },
    up: { axes: ['N', 'D'], dtypes: FLOATS, grad: true },
  },
  outputs: { y: { axes: ['N', 'D'], dtypes: FLOATS, grad: true } },
  scalars: {},

  forward({ gate, up }, { N, D }) {
    const y = new Float64Array(N * D);
    for (let i = 0; i < N * D; i++) y[i] = gate[i] * sigmoid(gate[i]) * up[i];
    return { y };
  },

  backward({ y: dy }, { gate, up }, { N, D }) {
    const dGate = new Float64Array(N * D);
    const dUp = new Float64Array(N * D);
    for (let i = 0; i < N * D; i++) {
      const s = sigmoid(gate[i]);
      dGate[i] = dy[i] * up[i] * s * (1 + gate[i] * (1 - s));
      dUp[i] = dy[i] * gate[i] * s;
    }
    return { gate: dGate, up: dUp };
  },

  // Gates of ±100 saturate the sigmoid, where a naive exponential overflows float32.
  sample({ N, D }, random) {
    const gate = Float64Array.from({ length: N * D }, () =>
      random.integer(16) === 0 ? random.pick([-100, -20, 0, 20, 100]) : 3 * random.normal(),
    );
    return { gate };
  },
  tolerance: { f32: 1e-5, bf16: 6e-3, f16: 1e-3 },
  gradTolerance: { f32: 1e-5, bf16: 1e-2, f16: 2e-3 },
  cases: [
    { dims: { N: 1, D: 1 } },
    { dims: { N: 3, D: 7 } },
    { dims: { N: 5, D: 64 } },
    { dims: { N: 65, D: 129 } },
  ],
  fuzz: (random) => ({ dims: { N: 1 + random.integer(70), D: 1 + random.integer(300) } }),
  part: (inputs, dims, _, random): Part => selectRows(swiglu, 'N', inputs, dims, random),
  benchCases: [{ dims: { N: 2048, D: 384 } }, { dims: { N: 2048, D: 4096 } }],
  // An exponential counts as 10 operations: about what its polynomial takes.
  cost: ({ N, D }, { bytesPerElement: size }) => ({ flops: 14 * N * D, bytes: 3 * N * D * size }),
  backwardCost: ({ N, D }, { bytesPerElement: size }) => ({
    flops: 20 * N * D,
    bytes: 5 * N * D * size,
  }),
});
