/**
 * y = x·Φ(x), the Gaussian error linear unit, and dx = dy·(Φ(x) + x·φ(x)). With the scalar tanh, Φ is
 * its approximation by a hyperbolic tangent and φ that one's slope.
 *
 * Flat arrays of N·D elements; a thread owns one element, or four where rows are whole vectors.
 */

import type { WebGpuKernel } from './kernel.ts';
import { elementwise } from './parts/elementwise.ts';

/**
 * Φ(x) = ½·erfc(−x/√2), with erfc(t) = e^(−t²)·P(s), s = (t − 2.5)/(t + 2.5), on 0 ≤ t ≤ 9: 1e-9
 * relative before rounding. The coefficients are those of the CPU kernel.
 */
const normal = `
fn gauss(x: f32) -> f32 { return exp(-0.5 * x * x); }

fn cumulative(x: f32) -> f32 {
  let t = min(0.70710678 * abs(x), 9.0);
  let s = (t - 2.5) / (t + 2.5);
  var sum = -3.926272565e-5;
  ${[
    '-1.138576913e-4',
    '2.366944999e-4',
    '8.710964500e-4',
    '-2.645492241e-3',
    '-3.992922202e-3',
    '3.992299304e-2',
    '-1.250331176e-1',
    '2.517131711e-1',
    '-3.717367320e-1',
    '2.108063642e-1',
  ]
    .map((coefficient) => `sum = fma(sum, s, ${coefficient});`)
    .join('\n  ')}
  let tail = 0.5 * gauss(x) * sum;
  return select(tail, 1.0 - tail, x > 0.0);
}`;

/**
 * The tanh approximation's curve for Φ: σ(2u), u = √(2/π)·(x + 0.044715·x³), by an exponential that
 * cannot overflow; and its slope σ(2u)·σ(−2u)·2u′. Beyond |x| = 10 the curve is 0 or 1.
 */
const tanhNormal = `
const SLOPE = 1.59576912;
const CUBIC = 0.044715;

fn power(x: f32) -> f32 { return exp(-abs(x) * fma(x * x, CUBIC * SLOPE, SLOPE)); }

fn tanh_cumulative(value: f32) -> f32 {
  let x = clamp(value, -10.0, 10.0);
  let e = power(x);
  return select(e, 1.0, x >= 0.0) / (1.0 + e);
}

fn tanh_density(value: f32) -> f32 {
  let x = clamp(value, -10.0, 10.0);
  let e = power(x);
  return e / ((1.0 + e) * (1.0 + e)) * fma(x * x, 3.0 * CUBIC * SLOPE, SLOPE);
}`;

const forward = elementwise({
  name: 'gelu',
  inputs: ['x'],
  outputs: { y: 'x * cumulative(x)' },
  functions: normal,
});

const tanhForward = elementwise({
  name: 'gelu by tanh',
  inputs: ['x'],
  outputs: { y: 'x * tanh_cumulative(x)' },
  functions: tanhNormal,
});

const backward = elementwise({
  name: 'gelu backward',
  inputs: ['dY', 'x'],
  outputs: { dX: 'dY * fma(0.39894228 * x, gauss(x), cumulative(x))' },
  functions: normal,
});

const tanhBackward = elementwise({
  name: 'gelu by tanh backward',
  inputs: ['dY', 'x'],
  outputs: { dX: 'dY * fma(x, tanh_density(x), tanh_cumulative(x))' },
  functions: tanhNormal,
});

export const gelu: WebGpuKernel = {
  op: 'gelu',
  signature: "x[N,D]' -> y[N,D]' ; tanh",
  forward: (call) => (call.scalars.tanh === 0 ? forward : tanhForward)(call, call.dims.D),
  backward: (call) => (call.scalars.tanh === 0 ? backward : tanhBackward)(call, call.dims.D),
};
