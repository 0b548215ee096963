/** Muon's direction: the nearest matrix whose singular values are all about 1. */
import { gemm, gradNorm } from '@saccade/ops';
import { adopt, apply, linear, type Tensor, tensor } from '@saccade/tensor';
import { blend, flat, scale } from '../arrays.ts';
import { emptyState } from '../state.ts';
import type { Transformation } from '../transformation.ts';

/**
 * Coefficients that raise small singular values fastest; they end between 0.7 and 1.2, not at 1.
 */
const [A, B, C] = [3.4445, -4.775, 2.0315];
/** Norm below which a matrix counts as zero and is not changed. */
const EPSILON = 1e-7;

export interface OrthogonalizeOptions {
  /** Newton–Schulz iterations. */
  readonly steps: number;
  /**
   * The factor of the result [R, C]. `keller`: √max(1, R/C), for Muon's own learning rates;
   * `moonlight`: 0.2·√max(R, C), which suits AdamW's learning rates (arXiv:2502.16982, eq. 4).
   */
  readonly scaling: 'keller' | 'moonlight';
}

/**
 * X ← u/‖u‖;  X ← a·X + (b·S + c·S²)·X with S = X·Xᵀ, several times;  u ← scale·X
 *
 * Newton–Schulz iteration of Jordan et al. 2024, "Muon: An optimizer for hidden layers in neural
 * networks", with its coefficients; in f32, where the original has bf16. No state.
 *
 * Every update must be a matrix [R, C]; use `masked` for the others.
 */
export function orthogonalize({ steps, scaling }: OrthogonalizeOptions): Transformation {
  return {
    init: () => emptyState,
    async update(updates, state) {
      const matrices = Object.values(updates);
      // All norms are queued before the first is awaited.
      const norms = await Promise.all(matrices.map(norm));
      for (const [i, matrix] of matrices.entries()) {
        const [rows = 0, columns = 0] = matrix.shape;
        scale(matrix, 1 / Math.max(norms[i] ?? 0, EPSILON));
        for (let step = 0; step < steps; step++) iterate(matrix);
        const factor =
          scaling === 'keller'
            ? Math.sqrt(Math.max(1, rows / columns))
            : 0.2 * Math.sqrt(Math.max(rows, columns));
        scale(matrix, factor);
      }
      return state;
    },
  };
}

async function norm(matrix: Tensor): Promise<number> {
  const sum = tensor(matrix.device, 'f32', [1], [0]);
  apply(gradNorm, { grad: flat(matrix), sum });
  const [total = Number.NaN] = await sum.read();
  sum.dispose();
  return Math.sqrt(total);
}

/** One iteration in place; S is taken along the shorter side of x [R, C]. */
function iterate(x: Tensor): void {
  const [rows = 0, columns = 0] = x.shape;
  const isWide = rows <= columns;
  const gram = isWide ? linear(x, x) : product(x, x, 'w');
  // Symmetric, so that S·Sᵀ is its square.
  const square = linear(gram, gram);
  blend(gram, square, B, C);
  const moved = isWide ? product(square, x, 'x') : linear(x, square);
  blend(moved, x, 1, A);
  for (const done of [gram, square, moved]) done.dispose();
}

/** Products that are gradients of y = x·wᵀ: `x` gives d·o, `w` gives dᵀ·o. */
function product(d: Tensor, o: Tensor, wanted: 'x' | 'w'): Tensor {
  const { device } = d;
  const [rows = 0, inner = 0] = d.shape;
  const [, columns = 0] = o.shape;
  // The other operand is there for its shape; its values are not read.
  const other = device.alloc('f32', wanted === 'x' ? [rows, columns] : [inner, columns]);
  const inputs = wanted === 'x' ? { x: other, w: o.array } : { x: o.array, w: other };
  const saved = { y: d.array };
  const { [wanted]: gradient } = device.backward(gemm, { y: d.array }, inputs, saved, {}, [wanted]);
  device.free(other);
  if (gradient === undefined) throw new TypeError('gemm gave no gradient');
  return adopt(device, gradient);
}
