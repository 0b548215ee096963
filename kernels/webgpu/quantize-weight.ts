/**
 * scale = max |w| of a group of a row, times 1/limit; code = the nearest multiple of the scale.
 *
 * First a thread owns a group, then one a word of codes. A code is guessed by a product with the inverse
 * and corrected by the midpoints on both sides, which are the same on every backend. Scales are bound
 * whole, weight and codes in slices of 16 rows.
 */
import type { KernelCall, Pass, WebGpuKernel } from './kernel.ts';
import { foldGroups } from './parts/fold-groups.ts';
import { operand } from './parts/operands.ts';
import { ROWS_TOGETHER, shiftOf, weightFormOf } from './parts/quantized-weight.ts';
import { pieces, rowsPerBinding } from './parts/slices.ts';
import { variants } from './parts/variants.ts';
import { type Shader, shader } from './shader.ts';

const THREADS = 64;
const limitOf = (bits: 4 | 8): number => (bits === 8 ? 127 : 7);

const scalesShader = variants(
  String,
  (bits: 4 | 8): Shader =>
    shader({
      name: 'scales of a weight',
      arrays: { w: 'read stored', scales: 'write f32' },
      numbers: {
        rows: 'u32',
        first: 'u32',
        all: 'u32',
        depth: 'u32',
        group: 'u32',
        stride: 'u32',
        count: 'u32',
      },
      threads: [THREADS, 1, 1],
      body: `
fn main(at: Place) {
  let item = at.global.y * p.stride + at.global.x;
  if (item >= p.count) { return; }
  let row = item % p.rows;
  let group = item / p.rows;
  var largest = 0.0;
  for (var k = group * p.group; k < min(p.depth, (group + 1u) * p.group); k++) {
    largest = max(largest, abs(get_w(row * p.depth + k)));
  }
  put_scales(group * p.all + p.first + row, largest * ${Math.fround(1 / limitOf(bits))}f);
}`,
    }),
);

const codesShader = variants(String, (bits: 4 | 8): Shader => {
  const limit = `${limitOf(bits)}.0`;
  const one = (j: number): string => `
  if (row < p.rows && first + ${j}u < p.depth) {
    let value = get_w(row * p.depth + first + ${j}u);
    let scale = get_scales((first + ${j}u) / p.group * p.all + p.first + row);
    word |= u32(${2 ** (bits - 1)} + code_of(value, scale)) << ${shiftOf(bits, j)}u;
  } else { word |= ${2 ** (bits - 1)}u << ${shiftOf(bits, j)}u; }`;
  return shader({
    name: 'codes of a weight',
    arrays: { w: 'read stored', scales: 'read f32', codes: 'write i32' },
    numbers: {
      rows: 'u32',
      first: 'u32',
      all: 'u32',
      depth: 'u32',
      group: 'u32',
      words: 'u32',
      stride: 'u32',
      count: 'u32',
    },
    threads: [THREADS, 1, 1],
    body: `
fn code_of(value: f32, scale: f32) -> i32 {
  let magnitude = abs(value);
  var size = 0.0;
  if (scale > 0.0) { size = min(floor(magnitude / scale + 0.5), ${limit}); }
  if (size < ${limit} && magnitude > (size + 0.5) * scale) { size += 1.0; }
  else if (size > 0.0 && !(magnitude > (size - 0.5) * scale)) { size -= 1.0; }
  return i32(select(size, -size, value < 0.0));
}

fn main(at: Place) {
  let i = at.global.y * p.stride + at.global.x;
  if (i >= p.count) { return; }
  let row = i / (${ROWS_TOGETHER}u * p.words) * ${ROWS_TOGETHER}u + i % ${ROWS_TOGETHER}u;
  let first = i / ${ROWS_TOGETHER}u % p.words * ${32 / bits}u;
  var word = 0u;
  ${Array.from({ length: 32 / bits }, (_, j) => one(j)).join('')}
  put_codes(i, bitcast<i32>(word));
}`,
  });
});

function forward(call: KernelCall): readonly Pass[] {
  const { N = 0, K = 0, W = 0, S = 0 } = call.dims;
  const { bits, group } = weightFormOf(call.dims);
  const [w, codes, scales] = ['w', 'codes', 'scales'].map((name) => operand(call, name));
  const slices = pieces(N, rowsPerBinding(call, 4 * Math.max(K, W), ROWS_TOGETHER));
  const pass = (made: Shader, count: number, numbers: Record<string, number>) => {
    const { workgroups, across } = foldGroups(Math.ceil(count / THREADS), call.limits);
    return { shader: made, numbers: { ...numbers, count, stride: across * THREADS }, workgroups };
  };
  return slices.flatMap(({ start, end }): readonly Pass[] => {
    const rows = end - start;
    const common = { rows, first: start, all: N, depth: K, group };
    const blocks = Math.ceil(rows / ROWS_TOGETHER);
    const from = (start / ROWS_TOGETHER) * W * ROWS_TOGETHER;
    const words = blocks * W * ROWS_TOGETHER;
    const own = w.slice(start * K, end * K);
    return [
      { ...pass(scalesShader(bits), rows * S, common), arrays: { w: own, scales } },
      {
        ...pass(codesShader(bits), words, { ...common, words: W }),
        arrays: { w: own, scales, codes: codes.slice(from, from + words) },
      },
    ];
  });
}

export const quantizeWeight: WebGpuKernel = {
  op: 'quantizeWeight',
  signature: 'w[N,K] codes[P,W,L]# scales[S,N]! -> codes[P,W,L]#=codes scales[S,N]!=scales',
  forward,
};
