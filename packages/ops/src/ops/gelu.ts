/** The Gaussian error linear unit, exact or by its tanh approximation. */
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

/** The curve that approximates Φ: ½(1 + tanh u) = σ(2u), u = √(2/π)·(x + 0.044715·x³). */
const CUBIC = 0.044715;
const tanhCdf = (x: number): number =>
  1 / (1 + Math.exp(-2 * Math.sqrt(2 / Math.PI) * (x + CUBIC * x ** 3)));

/** Its slope σ(2u)·(1 − σ(2u))·2u′. */
const tanhDensity = (x: number): number =>
  tanhCdf(x) * tanhCdf(-x) * 2 * Math.sqrt(2 / Math.PI) * (1 + 3 * CUBIC * x * x);

/**
 * y = x·Φ(x) = ½x·(1 + erf(x/√2))
 *
 *   ∂x = ∂y·(Φ(x) + x·φ(x))
 *
 * Hendrycks and Gimpel 2016, arXiv:1606.08415, eq. 1. With tanh ≠ 0 the approximation that follows there
 * (PyTorch's `approximate='tanh'`): Φ(x) becomes ½(1 + tanh(√(2/π)·(x + 0.044715·x³))). x [N, D].
 */
export const gelu = defineOp({
  id: 'gelu',
  inputs: { x: { axes: ['N', 'D'], dtypes: FLOATS, grad: true } },
  outputs: { y: { axes: ['N', 'D'], dtypes: FLOATS, grad: true } },
  scalars: { tanh: 0 },

  forward({ x }, { N, D }, { tanh }) {
    const cdf = tanh === 0 ? normalCdf : tanhCdf;
    const y = new Float64Array(N * D);
    for (let i = 0; i < N * D; i++) y[i] = x[i] * cdf(x[i]);
    return { y };
  },

  backward({ y: dy }, { x }, { N, D }, { tanh }) {
    const [cdf, density] = tanh === 0 ? [normalCdf, normalDensity] : [tanhCdf, tanhDensity];
    const dx = new Float64Array(N * D);
    for (let i = 0; i < N * D; i++) dx[i] = dy[i] * (cdf(x[i]) + x[i] * density(x[i]));
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
    { dims: { N: 3, D: 7 }, scalars: { tanh: 1 } },
    { dims: { N: 5, D: 64 } },
    { dims: { N: 65, D: 129 }, scalars: { tanh: 1 } },
    { dims: { N: 65, D: 129 } },
  ],
  fuzz: (random) => ({
    dims: { N: 1 + random.integer(70), D: 1 + random.integer(300) },
    scalars: { tanh: random.integer(2) },
  }),
  part: (inputs, dims, _, random): Part => selectRows(gelu, 'N', inputs, dims, random),
  benchCases: [
    { dims: { N: 2048, D: 4096 } },
    { dims: { N: 2048, D: 4096 }, scalars: { tanh: 1 } },
  ],
  // An erf counts as 18 operations, an exponential as 10: about what their polynomials take.
  cost: ({ N, D }, { bytesPerElement: size }) => ({ flops: 20 * N * D, bytes: 2 * N * D * size }),
  backwardCost: ({ N, D }, { bytesPerElement: size }) => ({
    flops: 35 * N * D,
    bytes: 3 * N * D * size,
  }),
});
