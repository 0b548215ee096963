/**
 * y ← a·x + b·y; where b is 0, y is not read; where x is absent, y ← b·y.
 *
 * Flat arrays of N floats; a thread owns one element. Bound by memory.
 */

import type { Pass, WebGpuKernel } from './kernel.ts';
import { foldGroups } from './parts/fold-groups.ts';
import { operand } from './parts/operands.ts';
import { type Shader, shader } from './shader.ts';

const THREADS = 128;

const blend: Shader = shader({
  name: 'axpby',
  arrays: { x: 'read f32', y: 'write f32' },
  numbers: { count: 'u32', stride: 'u32', a: 'f32', b: 'f32' },
  threads: [THREADS, 1, 1],
  body: `
fn main(at: Place) {
  let i = at.global.y * p.stride + at.global.x;
  if (i >= p.count) { return; }
  let scaled = p.a * get_x(i);
  if (p.b == 0.0) { put_y(i, scaled); } else { put_y(i, fma(p.b, get_y(i), scaled)); }
}`,
});

const scale: Shader = shader({
  name: 'axpby without x',
  arrays: { y: 'write f32' },
  numbers: { count: 'u32', stride: 'u32', a: 'f32', b: 'f32' },
  threads: [THREADS, 1, 1],
  body: `
fn main(at: Place) {
  let i = at.global.y * p.stride + at.global.x;
  if (i >= p.count) { return; }
  if (p.b == 0.0) { put_y(i, 0.0); } else { put_y(i, p.b * get_y(i)); }
}`,
});

export const axpby: WebGpuKernel = {
  op: 'axpby',
  signature: 'x[N]?! y[N]! -> y[N]!=y ; a b',
  forward: (call) => {
    const { N } = call.dims;
    const { a, b } = call.scalars;
    const { x } = call.arrays;
    const y = operand(call, 'y');
    const most = Math.floor(call.limits.bindingBytes / 4);
    return Array.from({ length: Math.ceil(N / most) }, (_, i): Pass => {
      const [start, end] = [i * most, Math.min(N, (i + 1) * most)];
      const { workgroups, across } = foldGroups(Math.ceil((end - start) / THREADS), call.limits);
      return {
        shader: x === undefined ? scale : blend,
        arrays: { ...(x && { x: x.slice(start, end) }), y: y.slice(start, end) },
        numbers: { a, b, count: end - start, stride: across * THREADS },
        workgroups,
      };
    });
  },
};
