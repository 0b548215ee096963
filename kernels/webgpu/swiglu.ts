/**
 * y = silu(gate)·up and its gradients, with silu(x) = x·σ(x).
 *
 * Flat arrays of N·D elements; a thread owns one element, or four where rows are whole vectors. The
 * backward computes σ again: one exponential costs less than the memory traffic of storing it.
 */

import type { WebGpuKernel } from './kernel.ts';
import { elementwise } from './parts/elementwise.ts';

/** σ by an exponential that cannot overflow. */
const logistic = `
fn logistic(x: f32) -> f32 {
  let e = exp(-abs(x));
  return select(e, 1.0, x >= 0.0) / (1.0 + e);
}

fn slope(x: f32) -> f32 {
  let s = logistic(x);
  return s * fma(x, 1.0 - s, 1.0);
}`;

const forward = elementwise({
  name: 'swiglu',
  inputs: ['gate', 'up'],
  outputs: { y: 'gate * logistic(gate) * up' },
  functions: logistic,
});

const backward = elementwise({
  name: 'swiglu backward',
  inputs: ['dY', 'gate', 'up'],
  outputs: { dGate: 'dY * up * slope(gate)', dUp: 'dY * gate * logistic(gate)' },
  functions: logistic,
});

export const swiglu: WebGpuKernel = {
  op: 'swiglu',
  signature: "gate[N,D]' up[N,D]' -> y[N,D]'",
  forward: (call) => forward(call, call.dims.D),
  backward: (call) => backward(call, call.dims.D),
};
