/**
 * y = a + b;  ∂a = ∂b = ∂y.
 *
 * Flat arrays of N·D elements; a thread owns one element, or four where rows are whole vectors.
 */

import type { WebGpuKernel } from './kernel.ts';
import { elementwise } from './parts/elementwise.ts';

const sum = elementwise({ name: 'add', inputs: ['a', 'b'], outputs: { y: 'a + b' } });
const pass = elementwise({ name: 'add backward', inputs: ['dY'], outputs: { dA: 'dY', dB: 'dY' } });

export const add: WebGpuKernel = {
  op: 'add',
  signature: "a[N,D]' b[N,D]' -> y[N,D]'",
  forward: (call) => sum(call, call.dims.D),
  backward: (call) => pass(call, call.dims.D),
};
