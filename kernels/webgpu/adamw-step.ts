/**
 * One step of AdamW with clipping by the global norm, in place, in the order of torch.optim.AdamW.
 *
 * Flat arrays of N floats; a thread owns one element. The factors that depend on the step alone are
 * computed once, in double. Bound by memory: four streams read, three written.
 */

import type { Pass, WebGpuKernel } from './kernel.ts';
import { foldGroups } from './parts/fold-groups.ts';
import { operand } from './parts/operands.ts';
import { type Shader, shader } from './shader.ts';

const THREADS = 128;

const step: Shader = shader({
  name: 'AdamW step',
  arrays: {
    param: 'write f32',
    m: 'write f32',
    v: 'write f32',
    grad: 'read f32',
    sumSquares: 'read f32',
  },
  numbers: {
    count: 'u32',
    stride: 'u32',
    maxNorm: 'f32',
    decay: 'f32',
    keep1: 'f32',
    take1: 'f32',
    keep2: 'f32',
    take2: 'f32',
    rate: 'f32',
    correction: 'f32',
    eps: 'f32',
  },
  threads: [THREADS, 1, 1],
  body: `
fn main(at: Place) {
  let i = at.global.y * p.stride + at.global.x;
  if (i >= p.count) { return; }
  // A norm that is not a number makes the update not a number, rather than hiding it.
  let clip = p.maxNorm / (sqrt(get_sumSquares(0u)) + 1e-6);
  let scale = select(clip, 1.0, p.maxNorm == 0.0 || clip >= 1.0);
  let g = get_grad(i) * scale;
  let first = fma(p.keep1, get_m(i), p.take1 * g);
  let second = fma(p.keep2, get_v(i), p.take2 * (g * g));
  let denominator = fma(sqrt(second), p.correction, p.eps);
  put_m(i, first);
  put_v(i, second);
  put_param(i, get_param(i) * p.decay - p.rate * (first / denominator));
}`,
});

export const adamwStep: WebGpuKernel = {
  op: 'adamwStep',
  signature:
    'param[N]! m[N]! v[N]! grad[N]! sumSquares[U]! -> ' +
    'param[N]!=param m[N]!=m v[N]!=v ; ' +
    'learningRate beta1 beta2 eps weightDecay step maxNorm',
  forward: (call) => {
    const { N } = call.dims;
    const { learningRate, beta1, beta2, eps, weightDecay, step: t, maxNorm } = call.scalars;
    if (!(t >= 1)) throw new RangeError(`step is ${t}; steps count from 1.`);
    const factors = {
      maxNorm,
      decay: 1 - learningRate * weightDecay,
      keep1: beta1,
      take1: 1 - beta1,
      keep2: beta2,
      take2: 1 - beta2,
      rate: learningRate / (1 - beta1 ** t),
      correction: 1 / Math.sqrt(1 - beta2 ** t),
      eps,
    };
    const streams = ['param', 'm', 'v', 'grad'].map((name) => [name, operand(call, name)] as const);
    const sumSquares = operand(call, 'sumSquares');
    const most = Math.floor(call.limits.bindingBytes / 4);
    return Array.from({ length: Math.ceil(N / most) }, (_, i): Pass => {
      const [start, end] = [i * most, Math.min(N, (i + 1) * most)];
      const slices = streams.map(([name, array]) => [name, array.slice(start, end)] as const);
      const { workgroups, across } = foldGroups(Math.ceil((end - start) / THREADS), call.limits);
      return {
        shader: step,
        arrays: { ...Object.fromEntries(slices), sumSquares },
        numbers: { ...factors, count: end - start, stride: across * THREADS },
        workgroups,
      };
    });
  },
};
