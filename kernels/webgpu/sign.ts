/**
 * x ← 1 where x > 0, −1 where x < 0, else x: zeros and NaN stay.
 *
 * A flat array of N floats; a thread owns one element. Bound by memory.
 */

import type { Pass, WebGpuKernel } from './kernel.ts';
import { foldGroups } from './parts/fold-groups.ts';
import { operand } from './parts/operands.ts';
import { type Shader, shader } from './shader.ts';

const THREADS = 128;

const signs: Shader = shader({
  name: 'sign',
  arrays: { x: 'write f32' },
  numbers: { count: 'u32', stride: 'u32' },
  threads: [THREADS, 1, 1],
  body: `
fn main(at: Place) {
  let i = at.global.y * p.stride + at.global.x;
  if (i >= p.count) { return; }
  let x = get_x(i);
  put_x(i, select(select(x, -1.0, x < 0.0), 1.0, x > 0.0));
}`,
});

export const sign: WebGpuKernel = {
  op: 'sign',
  signature: 'x[N]! -> x[N]!=x',
  forward: (call) => {
    const { N } = call.dims;
    const x = operand(call, 'x');
    const most = Math.floor(call.limits.bindingBytes / 4);
    return Array.from({ length: Math.ceil(N / most) }, (_, i): Pass => {
      const [start, end] = [i * most, Math.min(N, (i + 1) * most)];
      const { workgroups, across } = foldGroups(Math.ceil((end - start) / THREADS), call.limits);
      return {
        shader: signs,
        arrays: { x: x.slice(start, end) },
        numbers: { count: end - start, stride: across * THREADS },
        workgroups,
      };
    });
  },
};
