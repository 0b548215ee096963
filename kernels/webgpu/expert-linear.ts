/**
 * yᵣ = w[expertsᵣ]·xᵣ, and its gradients dxᵣ = w[expertsᵣ]ᵀ·dyᵣ, dw[e] = Σ dyᵣ·xᵣᵀ over e's rows.
 *
 * x [R, K], w [E, N, K], y [R, N], row-major. A first pass lists the rows by expert, in the order of
 * the list (parts/expert-rows.ts). Then a workgroup owns a tile of one expert's rows in the tiles of
 * parts/sum-tile.ts; it counts the tiles of the experts before to find its own, since only the device
 * knows how many rows an expert has. dw: a workgroup owns a tile of one expert's gradient.
 */

import type { GpuArray, KernelCall, Pass, WebGpuKernel } from './kernel.ts';
import { type ExpertRows, expertReader, listRows } from './parts/expert-rows.ts';
import { foldGroups } from './parts/fold-groups.ts';
import { operand } from './parts/operands.ts';
import { edgedLoad, rowAdder } from './parts/row-access.ts';
import { bytesOfStored, type Piece, pieces, rowsPerBinding } from './parts/slices.ts';
import { sumsOf, tileFeatures, tileMemory, tilePlace, tileSums } from './parts/sum-tile.ts';
import { type SumTile, tileThreads } from './parts/tile-shape.ts';
import { tileFor, tileKey } from './parts/tiles.ts';
import { variants } from './parts/variants.ts';
import { zeroAll } from './parts/zero.ts';
import { shader } from './shader.ts';

interface Variant {
  readonly tile: SumTile;
  readonly isVector: boolean;
  /** The matrices as they lie for y, or turned, for dx. */
  readonly isTurned: boolean;
}

const keyOf = ({ tile, ...rest }: { readonly tile: SumTile }): string =>
  [tileKey(tile), ...Object.values(rest)].join();

/** result[r] = w[e]·rows[r], or its transpose, for the rows r of each expert e that is bound. */
const rowsShader = variants<Variant>(keyOf, ({ tile, isVector, isTurned }) => {
  const vec4 = isVector ? (' vec4' as const) : ('' as const);
  return shader({
    name: `rows of experts${isTurned ? ', turned' : ''}`,
    arrays: {
      plan: 'read i32',
      rows: `read stored${vec4}`,
      w: `read stored${vec4}`,
      result: `write stored${vec4}`,
    },
    numbers: {
      R: 'u32',
      depth: 'u32',
      columns: 'u32',
      firstExpert: 'u32',
      endExpert: 'u32',
      acrossTiles: 'u32',
      across: 'u32',
    },
    threads: [tileThreads(tile), 1, 1],
    ...tileFeatures(tile),
    body: `${tileMemory(tile)}
${expertReader}
// Of the workgroup: the expert among those bound, and its places [x, y).
var<private> own_expert: u32;
var<private> own_places: vec2<u32>;
${edgedLoad('rows', {
  arguments: ['outer', 'inner'],
  ends: ['own_places.y', 'p.depth'],
  place: 'row_at(outer) * p.depth + inner',
  isVector,
})}
${
  isTurned
    ? edgedLoad('w', {
        arguments: ['outer', 'inner'],
        ends: ['p.depth', 'p.columns'],
        place: '(own_expert * p.depth + outer) * p.columns + inner',
        isVector,
      })
    : edgedLoad('w', {
        arguments: ['outer', 'inner'],
        ends: ['p.columns', 'p.depth'],
        place: '(own_expert * p.columns + outer) * p.depth + inner',
        isVector,
      })
}
${rowAdder('result', { rows: 'p.R', width: 'p.columns', isVector })}
fn store(place: u32, column: u32, value: vec4<f32>) {
  if (place < own_places.y) { add_result(row_at(place), column, value, false); }
}

fn main(at: Place, group: vec3<u32>) {
  let number = group.y * p.across + group.x;
  let column = ${tile.columns}u * (number % p.acrossTiles);
  var before = number / p.acrossTiles;
  var expert = p.firstExpert;
  for (; expert < p.endExpert; expert++) {
    let places = places_of(expert);
    let tiles = (places.y - places.x + ${tile.rows - 1}u) / ${tile.rows}u;
    if (before < tiles) { break; }
    before -= tiles;
  }
  if (expert >= p.endExpert) { return; }
  own_expert = expert - p.firstExpert;
  own_places = places_of(expert);
  let first = own_places.x + ${tile.rows}u * before;
  ${tilePlace(tile)}
  ${tileSums(tile, {
    columns: isTurned
      ? { along: 'width', load: (i, block, k) => `load_w(${k} + ${i}, column + 4u * ${block})` }
      : { along: 'depth', load: (i, block, k) => `load_w(column + 4u * ${block} + ${i}, ${k})` },
    rows: {
      along: 'depth',
      load: (i, block, k) => `load_rows(first + 4u * ${block} + ${i}, ${k})`,
    },
    depth: 'p.depth',
  })}
  ${sumsOf(tile)
    .map((sum) => `store(first + ${sum.row}, column + ${sum.column}, ${sum.value});`)
    .join('\n  ')}
}`,
  });
});

interface GradientVariant {
  readonly tile: SumTile;
  readonly isVector: boolean;
}

/** dw[e] = Σ gradients[r]·rows[r]ᵀ over the rows r of each expert e that is bound. */
const weightShader = variants<GradientVariant>(keyOf, ({ tile, isVector }) => {
  const vec4 = isVector ? (' vec4' as const) : ('' as const);
  const load = (name: string, width: string): string =>
    edgedLoad(name, {
      arguments: ['outer', 'inner'],
      ends: ['own_places.y', width],
      place: `row_at(outer) * ${width} + inner`,
      isVector,
    });
  return shader({
    name: 'gradient of experts',
    arrays: {
      plan: 'read i32',
      gradients: `read stored${vec4}`,
      rows: `read stored${vec4}`,
      result: `write f32${vec4}`,
    },
    numbers: {
      R: 'u32',
      N: 'u32',
      K: 'u32',
      firstExpert: 'u32',
      adds: 'u32',
      acrossTiles: 'u32',
      tiles: 'u32',
      groups: 'u32',
      across: 'u32',
    },
    threads: [tileThreads(tile), 1, 1],
    ...tileFeatures(tile),
    body: `${tileMemory(tile)}
${expertReader}
var<private> own_places: vec2<u32>;
var<private> own_matrix: u32;
${load('gradients', 'p.N')}
${load('rows', 'p.K')}
${rowAdder('result', { rows: '(own_matrix + p.N)', width: 'p.K', isVector })}
fn main(at: Place, group: vec3<u32>) {
  let number = group.y * p.across + group.x;
  if (number >= p.groups) { return; }
  let expert = number / p.tiles;
  let tile = number % p.tiles;
  let row = ${tile.rows}u * (tile / p.acrossTiles);
  let column = ${tile.columns}u * (tile % p.acrossTiles);
  own_matrix = expert * p.N;
  let places = places_of(p.firstExpert + expert);
  own_places = places;
  let depth = places.y - places.x;
  ${tilePlace(tile)}
  ${tileSums(tile, {
    columns: {
      along: 'width',
      load: (i, block, k) => `load_rows(places.x + ${k} + ${i}, column + 4u * ${block})`,
    },
    rows: {
      along: 'width',
      load: (i, block, k) => `load_gradients(places.x + ${k} + ${i}, row + 4u * ${block})`,
    },
    depth: 'depth',
  })}
  ${sumsOf(tile)
    .map(
      (sum) =>
        `add_result(own_matrix + row + ${sum.row}, column + ${sum.column}, ${sum.value}, p.adds != 0u);`,
    )
    .join('\n  ')}
}`,
  });
});

/** Rows that are listed together: as many as can be bound of every array [R, …]. */
function rowPieces(call: KernelCall): readonly Piece[] {
  const { R, K, N } = call.dims;
  const widest = Math.max(1, K, N) * bytesOfStored(call);
  return pieces(R, rowsPerBinding(call, widest, 1));
}

/** Experts whose matrices can be bound together. */
function expertPieces(call: KernelCall, elementBytes: number): readonly Piece[] {
  const { E, N, K } = call.dims;
  return pieces(E, rowsPerBinding(call, N * K * elementBytes, 1));
}

/** result = the rows' products with their experts' matrices; `isTurned` with the transposes. */
function products(
  call: KernelCall,
  list: ExpertRows,
  wanted: { readonly rows: GpuArray; readonly result: GpuArray; readonly isTurned: boolean },
): readonly Pass[] {
  const { E, N, K } = call.dims;
  const { isTurned } = wanted;
  const [depth, columns] = isTurned ? [N, K] : [K, N];
  const rows = wanted.rows.slice(list.start * depth, list.end * depth);
  const result = wanted.result.slice(list.start * columns, list.end * columns);
  const count = list.end - list.start;
  const tile = tileFor(Math.ceil(count / Math.max(1, E)), call);
  const acrossTiles = Math.ceil(columns / tile.columns);
  return expertPieces(call, bytesOfStored(call)).map(({ start, end }) => {
    const w = operand(call, 'w').slice(start * N * K, end * N * K);
    const isVector =
      depth % 4 === 0 && columns % 4 === 0 && [rows, w, result].every((array) => array.isAligned);
    const tiles = Math.floor(count / tile.rows) + Math.min(end - start, count);
    const { workgroups, across } = foldGroups(tiles * acrossTiles, call.limits);
    return {
      shader: rowsShader({ tile, isVector, isTurned }),
      arrays: { plan: list.plan, rows, w, result },
      numbers: {
        R: count,
        depth,
        columns,
        firstExpert: start,
        endExpert: end,
        acrossTiles: Math.max(1, acrossTiles),
        across,
      },
      workgroups,
    };
  });
}

/** dW, or with `adds` dW and more of it. */
function weightGradient(
  call: KernelCall,
  list: ExpertRows,
  arrays: { readonly dY: GpuArray; readonly dW: GpuArray },
  adds: boolean,
): readonly Pass[] {
  const { N, K } = call.dims;
  const gradients = arrays.dY.slice(list.start * N, list.end * N);
  const rows = operand(call, 'x').slice(list.start * K, list.end * K);
  const tile = tileFor(N, call);
  const acrossTiles = Math.max(1, Math.ceil(K / tile.columns));
  const tiles = acrossTiles * Math.ceil(N / tile.rows);
  return expertPieces(call, 4).map(({ start, end }) => {
    const result = arrays.dW.slice(start * N * K, end * N * K);
    const isVector =
      N % 4 === 0 && K % 4 === 0 && [gradients, rows, result].every((array) => array.isAligned);
    const groups = (end - start) * tiles;
    const { workgroups, across } = foldGroups(groups, call.limits);
    return {
      shader: weightShader({ tile, isVector }),
      arrays: { plan: list.plan, gradients, rows, result },
      numbers: {
        R: list.end - list.start,
        N,
        K,
        firstExpert: start,
        adds: adds ? 1 : 0,
        acrossTiles,
        tiles,
        groups,
        across,
      },
      workgroups,
    };
  });
}

function forward(call: KernelCall): readonly Pass[] {
  const wanted = { rows: operand(call, 'x'), result: operand(call, 'y'), isTurned: false };
  return rowPieces(call).flatMap((piece) => {
    const list = listRows(call, piece);
    return [...list.passes, ...products(call, list, wanted)];
  });
}

function backward(call: KernelCall): readonly Pass[] {
  const { R } = call.dims;
  const { dY, dX, dW } = call.arrays;
  if (dY === undefined || R === 0) return [dX, dW].flatMap((array) => zeroAll(call, array));
  return rowPieces(call).flatMap((piece) => {
    const list = listRows(call, piece);
    return [
      ...list.passes,
      ...(dX === undefined ? [] : products(call, list, { rows: dY, result: dX, isTurned: true })),
      ...(dW === undefined ? [] : weightGradient(call, list, { dY, dW }, piece.start > 0)),
    ];
  });
}

export const expertLinear: WebGpuKernel = {
  op: 'expertLinear',
  signature: "x[R,K]' experts[R]# w[E,N,K]+ -> y[R,N]'",
  forward,
  backward,
};
