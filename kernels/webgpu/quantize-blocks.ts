/**
 * scale = max |x| of each block of 256 elements; code = the nearest entry of the table times scale.
 *
 * A workgroup of 64 threads owns a block, a thread four elements in a row and so one word of codes,
 * the first code in its lowest byte. The maximum is taken as a tree in workgroup memory; a code is
 * found in eight halvings, its midpoints computed on the way.
 */

import type { Pass, WebGpuKernel } from './kernel.ts';
import { foldGroups } from './parts/fold-groups.ts';
import { operand } from './parts/operands.ts';
import { type Shader, shader } from './shader.ts';

const THREADS = 64;
const BLOCK = 256;

const quantize: Shader = shader({
  name: 'quantize blocks',
  arrays: { x: 'read f32', table: 'read f32', codes: 'write i32', scales: 'write f32' },
  numbers: { count: 'u32', blocks: 'u32', across: 'u32' },
  threads: [THREADS, 1, 1],
  body: `
var<workgroup> magnitudes: array<f32, ${THREADS}>;

fn code_of(value: f32, scale: f32) -> u32 {
  var code = 0u;
  for (var step = 128u; step > 0u; step >>= 1u) {
    let next = code + step;
    let midpoint = 0.5 * (get_table(next - 1u) + get_table(next));
    if (value > midpoint * scale) { code = next; }
  }
  return code;
}

fn main(at: Place, group: vec3<u32>) {
  let block = group.y * p.across + group.x;
  if (block >= p.blocks) { return; }
  let first = block * ${BLOCK}u + 4u * at.index;
  var largest = 0.0;
  for (var n = first; n < min(first + 4u, p.count); n++) {
    largest = max(largest, abs(get_x(n)));
  }
  magnitudes[at.index] = largest;
  workgroupBarrier();
  for (var span = ${THREADS / 2}u; span > 0u; span >>= 1u) {
    if (at.index < span) {
      magnitudes[at.index] = max(magnitudes[at.index], magnitudes[at.index + span]);
    }
    workgroupBarrier();
  }
  let scale = magnitudes[0];
  if (at.index == 0u) { put_scales(block, scale); }
  if (first >= p.count) { return; }
  var word = 0u;
  for (var n = first; n < min(first + 4u, p.count); n++) {
    word |= code_of(get_x(n), scale) << (8u * (n - first));
  }
  put_codes(first / 4u, bitcast<i32>(word));
}`,
});

export const quantizeBlocks: WebGpuKernel = {
  op: 'quantizeBlocks',
  signature: 'x[N]! table[T]! codes[W]# scales[K]! -> codes[W]#=codes scales[K]!=scales',
  forward: (call) => {
    const { N, K } = call.dims;
    const [x, table] = [operand(call, 'x'), operand(call, 'table')];
    const [codes, scales] = [operand(call, 'codes'), operand(call, 'scales')];
    const most = Math.max(1, Math.floor(call.limits.bindingBytes / 4 / BLOCK));
    return Array.from({ length: Math.ceil(K / most) }, (_, i): Pass => {
      const [first, last] = [i * most, Math.min(K, (i + 1) * most)];
      const [start, end] = [first * BLOCK, Math.min(N, last * BLOCK)];
      const { workgroups, across } = foldGroups(last - first, call.limits);
      return {
        shader: quantize,
        arrays: {
          x: x.slice(start, end),
          table,
          codes: codes.slice(start / 4, Math.ceil(end / 4)),
          scales: scales.slice(first, last),
        },
        numbers: { count: end - start, blocks: last - first, across },
        workgroups,
      };
    });
  },
};
