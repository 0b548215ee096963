/**
 * x = table[code] · scale of its block of 256 elements; four codes in an int32, lowest byte first.
 *
 * A thread owns one element.
 */

import type { Pass, WebGpuKernel } from './kernel.ts';
import { foldGroups } from './parts/fold-groups.ts';
import { operand } from './parts/operands.ts';
import { type Shader, shader } from './shader.ts';

const THREADS = 128;
const BLOCK = 256;

const dequantize: Shader = shader({
  name: 'dequantize blocks',
  arrays: { codes: 'read i32', scales: 'read f32', table: 'read f32', x: 'write f32' },
  numbers: { count: 'u32', stride: 'u32' },
  threads: [THREADS, 1, 1],
  body: `
fn main(at: Place) {
  let n = at.global.y * p.stride + at.global.x;
  if (n >= p.count) { return; }
  let word = bitcast<u32>(get_codes(n / 4u));
  let code = (word >> (8u * (n % 4u))) & 255u;
  put_x(n, get_table(code) * get_scales(n / ${BLOCK}u));
}`,
});

export const dequantizeBlocks: WebGpuKernel = {
  op: 'dequantizeBlocks',
  signature: 'codes[W]# scales[K]! table[T]! x[N]! -> x[N]!=x',
  forward: (call) => {
    const { N, K } = call.dims;
    const [codes, scales] = [operand(call, 'codes'), operand(call, 'scales')];
    const [table, x] = [operand(call, 'table'), operand(call, 'x')];
    const most = Math.max(1, Math.floor(call.limits.bindingBytes / 4 / BLOCK));
    return Array.from({ length: Math.ceil(K / most) }, (_, i): Pass => {
      const [first, last] = [i * most, Math.min(K, (i + 1) * most)];
      const [start, end] = [first * BLOCK, Math.min(N, last * BLOCK)];
      const { workgroups, across } = foldGroups(Math.ceil((end - start) / THREADS), call.limits);
      return {
        shader: dequantize,
        arrays: {
          codes: codes.slice(start / 4, Math.ceil(end / 4)),
          scales: scales.slice(first, last),
          table,
          x: x.slice(start, end),
        },
        numbers: { count: end - start, stride: across * THREADS },
        workgroups,
      };
    });
  },
};
