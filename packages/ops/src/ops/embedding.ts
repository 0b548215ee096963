/** Token embeddings, with rows from elsewhere (visual features) spliced in. */
import { defineOp, FLOATS, INDICES, type Part, type Values } from '../op.ts';
import { selectRows } from '../select-rows.ts';

/**
 * yₙ = table[idₙ] if idₙ < V, else extra[idₙ − V]
 *
 *   ∂table, ∂extra: ∂yₙ added to the row it came from, in order of n
 *
 * table [V, D]; extra [E, D], optional; ids [N] in [0, V + E). No paper: it is the definition.
 */
export const embedding = defineOp({
  id: 'embedding',
  inputs: {
    table: { axes: ['V', 'D'], dtypes: FLOATS, grad: true, gradDtype: 'f32' },
    extra: { axes: ['E', 'D'], dtypes: FLOATS, grad: true, optional: true },
    ids: { axes: ['N'], dtypes: INDICES },
  },
  outputs: { y: { axes: ['N', 'D'], dtypes: FLOATS, grad: true } },
  scalars: {},

  forward(inputs, { V, N, D }) {
    const { table, ids } = inputs;
    const extra: Values[string] | undefined = inputs.extra;
    const y = new Float64Array(N * D);
    for (let n = 0; n < N; n++) {
      const [source, row] = ids[n] < V ? [table, ids[n]] : [extra, ids[n] - V];
      for (let d = 0; d < D; d++) y[n * D + d] = source[row * D + d];
    }
    return { y };
  },

  backward({ y: dy }, { ids }, { V, E, N, D }) {
    const dTable = new Float64Array(V * D);
    const dExtra = new Float64Array(E * D);
    for (let n = 0; n < N; n++) {
      const [sink, row] = ids[n] < V ? [dTable, ids[n]] : [dExtra, ids[n] - V];
      for (let d = 0; d < D; d++) sink[row * D + d] += dy[n * D + d];
    }
    return { table: dTable, extra: dExtra };
  },

  sample: ({ V, E, N }, random) => ({
    ids: Int32Array.from({ length: N }, () => random.integer(V + E)),
  }),
  tolerance: { f32: 1e-5, bf16: 6e-3, f16: 1e-3 },
  gradTolerance: { f32: 1e-5, bf16: 1e-2, f16: 2e-3 },
  cases: [
    { dims: { V: 1, D: 1, E: 0, N: 1 }, without: ['extra'] },
    { dims: { V: 5, D: 7, E: 3, N: 9 } },
    { dims: { V: 64, D: 33, E: 0, N: 130 }, without: ['extra'] },
    { dims: { V: 10, D: 128, E: 70, N: 65 } },
  ],
  fuzz(random) {
    const E = random.integer(3) === 0 ? 0 : 1 + random.integer(30);
    return {
      dims: { V: 1 + random.integer(50), D: 1 + random.integer(140), E, N: 1 + random.integer(99) },
      ...(E === 0 ? { without: ['extra'] } : {}),
    };
  },
  part: (inputs, dims, _, random): Part => selectRows(embedding, 'N', inputs, dims, random),
  benchCases: [{ dims: { V: 4096, D: 1024, E: 256, N: 2048 } }],
  cost: ({ N, D }, { bytesPerElement: size }) => ({ flops: 0, bytes: 2 * N * D * size + 4 * N }),
  // ∂y is read, and both gradients are written in full: most rows are zeros.
  backwardCost: ({ V, E, N, D }, { bytesPerElement: size }) => ({
    flops: N * D,
    bytes: (N * D + V * D + E * D) * size + 4 * N,
  }),
});
