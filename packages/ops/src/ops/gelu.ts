/** The Gaussian error linear unit, exact. */
import { defineOp, FLOATS, type Part } from '../op.ts';
import { selectRows } from '../select-rows.ts';

/**
 * erf(x) = 2/√π · e^(−x²) · Σₙ 2ⁿ x^(2n+1) / (2n+1)!!
 *
 * Abramowitz and Stegun 7.1.6: all terms have one sign, so nothing cancels; 1 beyond |x| = 6 to
 * double precision.
 */
function erf(x: number): number {
  if (Math.abs(x) >= 6) return Math.sign(x);
  let term = x;
  let sum = x;
  for (let n = 1; Math.abs(term) > 1e-17 * Math.abs(sum); n++) {
    term *= (2 * x * x) / (2 * n + 1);
    sum += term;
  }
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
}

/** Φ(x), the standard normal distribution function. */
const normalCdf = (x: number): number => 0.5 * (1 + erf(x / Math.SQRT2));

/** φ(x) = Φ′(x). */
const normalDensity = (x: number): number => Math.exp(-0.5 * x * x) / Math.sqrt(2 * Math.PI);

/**
 * y = x·Φ(x) = ½x·(1 + erf(x/√2))
 *
 *   ∂x = ∂y·(Φ(x) + x·φ(x))
 *
 * Hendrycks and Gimpel 2016, arXiv:1606.08415, eq. 1; not the tanh approximation. x [N, D].
 */
export const gelu = defineOp({
  id: 'gelu',
  inputs: { x: { axes: ['N', 'D'], dtypes: FLOATS, grad: true } },
  outputs: { y: { axes: ['N', 'D'], dtypes: FLOATS, grad: true } },
  scalars: {},

  forward({ x }, { N, D }) {
    const y = new Float64Array(N * D);
    for (let i = 0; i < N * D; i++) y[i] = x[i] * normalCdf(x[i]);
    return { y };
  },

  backward({ y: dy }, { x }, { N, D }) {
    const dx = new Float64Array(N * D);
    for (let i = 0; i < N * D; i++) {
      dx[i] = dy[i] * (normalCdf(x[i]) + x[i] * normalDensity(x[i]));
    }
    return { x: dx };
  },

  sample({ N, D }, random) {
    const x = Float64Array.from({ length: N * D }, () =>
      random.integer(16) === 0 ? random.pick([-50, -6, 0, 6, 50]) : 2 * random.normal(),
    );
    return { x };
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
  part: (inputs, dims, _, random): Part => selectRows(gelu, 'N', inputs, dims, random),
  benchCases: [{ dims: { N: 2048, D: 4096 } }],
  // An erf counts as 18 operations, an exponential as 10: about what their polynomials take.
  cost: ({ N, D }, { bytesPerElement: size }) => ({ flops: 20 * N * D, bytes: 2 * N * D * size }),
  backwardCost: ({ N, D }, { bytesPerElement: size }) => ({
    flops: 35 * N * D,
    bytes: 3 * N * D * size,
  }),
});
