/**
 * total = sum + Σₙ gradₙ², in place; chained over all gradients it gives their global norm squared.
 *
 * A workgroup of 128 threads owns 8192 elements: a thread adds 64 squares, the threads' sums are
 * added as a tree. One workgroup adds what the others left, in the same way.
 */

import type { Pass, WebGpuKernel } from './kernel.ts';
import { foldGroups } from './parts/fold-groups.ts';
import { operand } from './parts/operands.ts';
import { workgroupSum } from './parts/workgroup-sum.ts';
import { type Shader, shader } from './shader.ts';

const THREADS = 128;
const CHUNK = 64 * THREADS;

const chunkSum: Shader = shader({
  name: 'sum of squares',
  arrays: { grad: 'read f32', partial: 'write f32' },
  numbers: { count: 'u32', chunks: 'u32', across: 'u32' },
  threads: [THREADS, 1, 1],
  body: `${workgroupSum(THREADS)}
fn main(at: Place, group: vec3<u32>) {
  let chunk = group.y * p.across + group.x;
  if (chunk >= p.chunks) { return; }
  let end = min(p.count, (chunk + 1u) * ${CHUNK}u);
  var sum = 0.0;
  for (var i = chunk * ${CHUNK}u + at.index; i < end; i += ${THREADS}u) {
    let value = get_grad(i);
    sum = fma(value, value, sum);
  }
  let all = workgroup_sum(sum, at.index);
  if (at.index == 0u) { put_partial(chunk, all); }
}`,
});

const totalSum: Shader = shader({
  name: 'add to the norm',
  arrays: { partial: 'read f32', total: 'write f32' },
  numbers: { chunks: 'u32' },
  threads: [THREADS, 1, 1],
  body: `${workgroupSum(THREADS)}
fn main(at: Place) {
  var sum = 0.0;
  for (var i = at.index; i < p.chunks; i += ${THREADS}u) { sum += get_partial(i); }
  let all = workgroup_sum(sum, at.index);
  if (at.index == 0u) { put_total(0u, get_total(0u) + all); }
}`,
});

export const gradNorm: WebGpuKernel = {
  op: 'gradNorm',
  signature: 'grad[N]! sum[U]! -> total[U]!=sum',
  forward: (call) => {
    const { N } = call.dims;
    const [grad, total] = [operand(call, 'grad'), operand(call, 'total')];
    const chunks = Math.ceil(N / CHUNK);
    const partial = call.scratch('f32', chunks);
    const step = Math.floor(call.limits.bindingBytes / 4 / CHUNK) || 1;
    const sums = Array.from({ length: Math.ceil(chunks / step) }, (_, i): Pass => {
      const [first, last] = [i * step, Math.min(chunks, (i + 1) * step)];
      const [start, end] = [first * CHUNK, Math.min(N, last * CHUNK)];
      const { workgroups, across } = foldGroups(last - first, call.limits);
      return {
        shader: chunkSum,
        arrays: { grad: grad.slice(start, end), partial: partial.slice(first, last) },
        numbers: { count: end - start, chunks: last - first, across },
        workgroups,
      };
    });
    const add: Pass = {
      shader: totalSum,
      arrays: { partial, total },
      numbers: { chunks },
      workgroups: [1, 1, 1],
    };
    return [...sums, add];
  },
};
