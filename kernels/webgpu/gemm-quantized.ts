/**
 * y = x·wᵀ + b with a weight of 8 or 4 bits: codes times scales.
 *
 * The tiles of parts/sum-tile.ts, whose columns are widened where they are loaded: four codes of a
 * column at a time, times their scale. A sum is one chain over the depth, in order. x and y are bound in
 * slices of rows, codes in slices of columns, scales and bias whole.
 */
import type { KernelCall, Pass, WebGpuKernel } from './kernel.ts';
import { foldGroups } from './parts/fold-groups.ts';
import { operand } from './parts/operands.ts';
import { codesIn, ROWS_TOGETHER, weightFormOf } from './parts/quantized-weight.ts';
import { edgedLoad } from './parts/row-access.ts';
import { pieces, rowsPerBinding } from './parts/slices.ts';
import { sumsOf, tileFeatures, tileMemory, tilePlace, tileSums } from './parts/sum-tile.ts';
import { type SumTile, tileThreads } from './parts/tile-shape.ts';
import { tileFor, tileKey } from './parts/tiles.ts';
import { variants } from './parts/variants.ts';
import { type Shader, shader } from './shader.ts';

/** Slices are cut at multiples of the rows and columns of any tile. */
const SLICE = 64;

interface Variant {
  readonly tile: SumTile;
  readonly bits: 4 | 8;
  readonly hasBias: boolean;
}

const productShader = variants(
  ({ tile, ...wanted }: Variant) => [tileKey(tile), ...Object.values(wanted)].join(),
  makeShader,
);

function makeShader({ tile, bits, hasBias }: Variant): Shader {
  const perWord = 32 / bits;
  const biased = (i: number): string =>
    `values[${i}]${hasBias ? ` + get_bias(p.first + column + ${i}u)` : ''}`;
  return shader({
    name: 'gemm quantized',
    arrays: {
      x: 'read stored',
      codes: 'read i32',
      scales: 'read f32',
      ...(hasBias ? { bias: 'read stored' as const } : {}),
      y: 'write stored',
    },
    numbers: {
      rows: 'u32',
      columns: 'u32',
      depth: 'u32',
      // The first column of the slice, and the columns of all slices.
      first: 'u32',
      all: 'u32',
      words: 'u32',
      group: 'u32',
      acrossTiles: 'u32',
      across: 'u32',
    },
    threads: [tileThreads(tile), 1, 1],
    ...tileFeatures(tile),
    body: `${tileMemory(tile)}
${edgedLoad('x', { arguments: ['outer', 'inner'], ends: ['p.rows', 'p.depth'], place: 'outer * p.depth + inner', isVector: false })}
${codesIn(bits)}
fn load_w(column: u32, k: u32) -> vec4<f32> {
  let isIn = (column < p.columns) & (k < p.depth);
  let n = select(0u, column, isIn);
  let start = select(0u, k, isIn);
  let place = (n / ${ROWS_TOGETHER}u * p.words + start / ${perWord}u) * ${ROWS_TOGETHER}u + n % ${ROWS_TOGETHER}u;
  let scale = get_scales(start / p.group * p.all + p.first + n);
  let codes = codes_in(bitcast<u32>(get_codes(place)), start % ${perWord}u);
  return select(vec4<f32>(), codes * scale, isIn);
}
fn store(row: u32, column: u32, values: vec4<f32>) {
  if (row >= p.rows) { return; }
  let start = row * p.all + p.first + column;
  ${[0, 1, 2, 3].map((i) => `if (column + ${i}u < p.columns) { put_y(start + ${i}u, ${biased(i)}); }`).join('\n  ')}
}
fn main(at: Place, group: vec3<u32>) {
  let tile = group.y * p.across + group.x;
  let row = ${tile.rows}u * (tile / p.acrossTiles);
  let column = ${tile.columns}u * (tile % p.acrossTiles);
  ${tilePlace(tile)}
  ${tileSums(tile, {
    columns: {
      along: 'depth',
      load: (i, block, k) => `load_w(column + 4u * ${block} + ${i}, ${k})`,
    },
    rows: { along: 'depth', load: (i, block, k) => `load_x(row + 4u * ${block} + ${i}, ${k})` },
    depth: 'p.depth',
  })}
  ${sumsOf(tile)
    .map((sum) => `store(row + ${sum.row}, column + ${sum.column}, ${sum.value});`)
    .join('\n  ')}
}`,
  });
}

function forward(call: KernelCall): readonly Pass[] {
  const { M = 0, N = 0, K = 0, W = 0 } = call.dims;
  const { bits, group } = weightFormOf(call.dims);
  const [x, codes, scales, y] = ['x', 'codes', 'scales', 'y'].map((name) => operand(call, name));
  const { b } = call.arrays;
  // Codes are the weights, so their factors are never float16.
  const tile = tileFor(M, call, 'f32');
  const passes: Pass[] = [];
  for (const rows of pieces(M, rowsPerBinding(call, 4 * Math.max(K, N), SLICE))) {
    for (const columns of pieces(N, rowsPerBinding(call, 4 * W, SLICE))) {
      const own = x.slice(rows.start * K, rows.end * K);
      const from = columns.start * W;
      const acrossTiles = Math.ceil((columns.end - columns.start) / tile.columns);
      const tiles = acrossTiles * Math.ceil((rows.end - rows.start) / tile.rows);
      const { workgroups, across } = foldGroups(tiles, call.limits);
      passes.push({
        shader: productShader({ tile, bits, hasBias: b !== undefined }),
        arrays: {
          x: own,
          codes: codes.slice(from, Math.ceil(columns.end / ROWS_TOGETHER) * ROWS_TOGETHER * W),
          scales,
          ...(b === undefined ? {} : { bias: b }),
          y: y.slice(rows.start * N, rows.end * N),
        },
        numbers: {
          rows: rows.end - rows.start,
          columns: columns.end - columns.start,
          depth: K,
          first: columns.start,
          all: N,
          words: W,
          group,
          acrossTiles,
          across,
        },
        workgroups,
      });
    }
  }
  return passes;
}

export const gemmQuantized: WebGpuKernel = {
  op: 'gemmQuantized',
  signature: 'x[M,K] codes[P,W,L]# scales[S,N]! b[N]? -> y[M,N]',
  forward,
};
