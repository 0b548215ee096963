/**
 * The gradients of log-probability and entropy by hidden and weight, without an [N, V] array.
 *
 *   ∂zⱼ = ∂logprob·(1[j = target] − pⱼ) − ∂entropy·pⱼ·(ln pⱼ + H)
 *   ∂hidden = ∂z·weight / temperature      ∂weight = ∂zᵀ·hidden / temperature
 *
 * For each block of at most 2048 rows and each 4096 entries of the vocabulary: logits again, turned
 * into ∂z as they leave the tile (at most 32 MiB, a thirty-seventh of the block's logits where V is
 * 151 936); ∂weight of these entries; and what they add to ∂hidden. All three are products on the
 * tiles of parts/sum-tile.ts. Sums run over rows and over
 * the vocabulary in order, without atomics. Rows without a target are left out of every product.
 */

import type { GpuArray, KernelCall, Pass } from './kernel.ts';
import { operand } from './parts/operands.ts';
import { rowAdder, rowLoader } from './parts/row-access.ts';
import { rowListShader } from './parts/row-list.ts';
import { copyRows, zeroRows } from './parts/rows.ts';
import { bytesOfStored, pieces, rowsPerBinding } from './parts/slices.ts';
import { sumsOf, tileFeatures, tileMemory, tilePlace, tileSums } from './parts/sum-tile.ts';
import { type SumTile, tileThreads } from './parts/tile-shape.ts';
import { TILE_ROWS, tileFor, tileKey } from './parts/tiles.ts';
import { variants } from './parts/variants.ts';
import { isVectorized } from './parts/vocabulary.ts';
import { zeroAll } from './parts/zero.ts';
import { shader } from './shader.ts';

const ROWS = 2048;
const ENTRIES = 4096;
/** Edge of the widest tile, to which rows and entries of ∂z are filled up. */
const TILE = Math.max(...TILE_ROWS);

/** @throws RangeError if the temperature is not positive */
export function inverseOf({ scalars }: KernelCall): number {
  const temperature = scalars.temperature;
  if (temperature > 0) return 1 / temperature;
  throw new RangeError(`temperature is ${temperature}, expected more than 0.`);
}

/** Lists the rows of a block with what the gradient of a logit needs: ∂logprob, ∂entropy, lse, H. */
const listShader = rowListShader({
  arrays: {
    dLogprobs: 'read f32',
    dEntropy: 'read f32',
    entropy: 'read f32',
    lse: 'read f32',
    records: 'write f32 vec4',
  },
  numbers: { hasLogprobs: 'u32', hasEntropy: 'u32' },
  forRow: `if (isKept) {
      var record = vec4<f32>(0.0, 0.0, get_lse(n), get_entropy(n));
      if (p.hasLogprobs != 0u) { record.x = get_dLogprobs(n); }
      if (p.hasEntropy != 0u) { record.y = get_dEntropy(n); }
      put_records(place, record);
    }`,
});

/** The row of a position in the list; beyond all rows where there is none. */
const ROW_AT = `
fn row_at(position: u32, count: u32) -> u32 {
  if (position >= count) { return p.N; }
  return u32(get_list(position));
}`;

interface TileForm {
  readonly tile: SumTile;
  readonly isVector: boolean;
}

const keyOf = ({ tile, isVector }: TileForm): string => `${tileKey(tile)} ${isVector}`;

/** dz [rows, stride] = ∂L/∂z / temperature; 0 beyond the entries, up to the edges of the tiles. */
const logitShader = variants(keyOf, ({ tile, isVector }: TileForm) => {
  const vec4 = isVector ? (' vec4' as const) : ('' as const);
  return shader({
    name: `gradients of logits${vec4}`,
    arrays: {
      hidden: `read stored${vec4}`,
      weight: `read stored${vec4}`,
      list: 'read i32',
      records: 'read f32 vec4',
      dz: 'write f32 vec4',
    },
    numbers: {
      N: 'u32',
      D: 'u32',
      entries: 'u32',
      firstEntry: 'u32',
      stride: 'u32',
      inverse: 'f32',
    },
    threads: [tileThreads(tile), 1, 1],
    ...tileFeatures(tile),
    body: `
${tileMemory(tile)}
var<workgroup> tile_rows: array<u32, ${tile.rows}>;
${ROW_AT}
${rowLoader('hidden', { rows: 'p.N', width: 'p.D', isVector })}
${rowLoader('weight', { rows: 'p.entries', width: 'p.D', isVector })}

fn logit_gradient(z: vec4<f32>, entry: u32, wanted: i32, record: vec4<f32>) -> vec4<f32> {
  let entries = vec4<u32>(entry) + vec4<u32>(0u, 1u, 2u, 3u);
  let log_p = fma(z, vec4<f32>(p.inverse), vec4<f32>(-record.z));
  let pull = fma(vec4<f32>(record.y), log_p + record.w, vec4<f32>(record.x));
  let hit = select(vec4<f32>(), vec4<f32>(record.x), vec4<i32>(entries) == vec4<i32>(wanted));
  let gradient = fma(-exp(log_p), pull, hit) * p.inverse;
  return select(vec4<f32>(), gradient, entries < vec4<u32>(p.entries));
}

fn store(position: u32, count: u32, entry: u32, logits: vec4<f32>) {
  if (position >= count) { return; }
  let wanted = get_list(p.N + position) - i32(p.firstEntry);
  let gradient = logit_gradient(logits, entry, wanted, get_records(position));
  put_dz((position * p.stride + entry) >> 2u, gradient);
}

fn main(at: Place, group: vec3<u32>) {
  let count = u32(get_list(2u * p.N));
  let base = group.x * ${tile.rows}u;
  if (base >= count) { return; }
  let entry = group.y * ${tile.columns}u;
  ${tilePlace(tile)}
  for (var i = at.index; i < ${tile.rows}u; i += ${tileThreads(tile)}u) {
    tile_rows[i] = row_at(base + i, count);
  }
  workgroupBarrier();
  ${tileSums(tile, {
    columns: {
      along: 'depth',
      load: (i, block, k) => `load_weight(entry + 4u * ${block} + ${i}, ${k})`,
    },
    rows: {
      along: 'depth',
      load: (i, block, k) => `load_hidden(tile_rows[4u * ${block} + ${i}], ${k})`,
    },
    depth: 'p.D',
  })}
  ${sumsOf(tile)
    .map(({ row, column, value }) => `store(base + ${row}, count, entry + ${column}, ${value});`)
    .join('\n  ')}
}`,
  });
});

/** ∂weight of a chunk of entries: ∂zᵀ·hidden over the rows of a block. */
const weightShader = variants(keyOf, ({ tile, isVector }: TileForm) => {
  const vec4 = isVector ? (' vec4' as const) : ('' as const);
  return shader({
    name: `gradient of the head${vec4}`,
    arrays: {
      hidden: `read stored${vec4}`,
      list: 'read i32',
      dz: 'read f32 vec4',
      dWeight: `write f32${vec4}`,
    },
    numbers: { N: 'u32', D: 'u32', entries: 'u32', stride: 'u32', adds: 'u32' },
    threads: [tileThreads(tile), 1, 1],
    ...tileFeatures(tile),
    body: `
${tileMemory(tile)}
${ROW_AT}
${rowLoader('hidden', { rows: 'p.N', width: 'p.D', isVector })}
${rowAdder('dWeight', { rows: 'p.entries', width: 'p.D', isVector })}

// A tile of few rows leaves rows beyond the count unwritten.
fn load_dz(position: u32, count: u32, entry: u32) -> vec4<f32> {
  return select(vec4<f32>(), get_dz((position * p.stride + entry) >> 2u), position < count);
}

fn main(at: Place, group: vec3<u32>) {
  let count = u32(get_list(2u * p.N));
  let entry = group.x * ${tile.rows}u;
  let column = group.y * ${tile.columns}u;
  ${tilePlace(tile)}
  ${tileSums(tile, {
    columns: {
      along: 'width',
      load: (i, block, k) => `load_hidden(row_at(${k} + ${i}, count), column + 4u * ${block})`,
    },
    rows: {
      along: 'width',
      load: (i, block, k) => `load_dz(${k} + ${i}, count, entry + 4u * ${block})`,
    },
    depth: 'count',
  })}
  ${sumsOf(tile)
    .map(
      (sum) =>
        `add_dWeight(entry + ${sum.row}, column + ${sum.column}, ${sum.value}, p.adds != 0u);`,
    )
    .join('\n  ')}
}`,
  });
});

/** The contribution of a chunk of entries to ∂hidden: ∂z·weight. */
const hiddenShader = variants(keyOf, ({ tile, isVector }: TileForm) => {
  const vec4 = isVector ? (' vec4' as const) : ('' as const);
  return shader({
    name: `gradient of the hidden states${vec4}`,
    arrays: {
      weight: `read stored${vec4}`,
      list: 'read i32',
      dz: 'read f32 vec4',
      sums: `write f32${vec4}`,
    },
    numbers: { N: 'u32', D: 'u32', entries: 'u32', stride: 'u32' },
    threads: [tileThreads(tile), 1, 1],
    ...tileFeatures(tile),
    body: `
${tileMemory(tile)}
${ROW_AT}
${rowLoader('weight', { rows: 'p.entries', width: 'p.D', isVector })}
${rowAdder('sums', { rows: 'p.N', width: 'p.D', isVector })}

fn main(at: Place, group: vec3<u32>) {
  let count = u32(get_list(2u * p.N));
  let base = group.x * ${tile.rows}u;
  if (base >= count) { return; }
  let column = group.y * ${tile.columns}u;
  ${tilePlace(tile)}
  ${tileSums(tile, {
    columns: {
      along: 'width',
      load: (i, block, k) => `load_weight(${k} + ${i}, column + 4u * ${block})`,
    },
    rows: {
      along: 'depth',
      load: (i, block, k) => `get_dz(((base + 4u * ${block} + ${i}) * p.stride + ${k}) >> 2u)`,
    },
    depth: 'p.entries',
  })}
  ${sumsOf(tile)
    .map(
      (sum) =>
        `add_sums(row_at(base + ${sum.row}, count), column + ${sum.column}, ${sum.value}, true);`,
    )
    .join('\n  ')}
}`,
  });
});

/** The shared state of all passes over one block of rows. */
interface Block {
  readonly hidden: GpuArray;
  readonly list: GpuArray;
  readonly records: GpuArray;
  readonly dz: GpuArray;
  readonly rows: number;
  /** Sums of ∂hidden, absent where it is not wanted. */
  readonly sums: GpuArray | undefined;
  readonly isFirst: boolean;
}

/** The three products of a block of rows and a chunk of entries. */
function chunkPasses(
  call: KernelCall,
  { hidden, list, records, dz, rows, sums, isFirst }: Block,
  { start, end }: { start: number; end: number },
): readonly Pass[] {
  const { D } = call.dims;
  const entries = end - start;
  const stride = roundUp(entries, TILE);
  const weight = operand(call, 'weight').slice(start * D, end * D);
  const dWeight = call.arrays.dWeight?.slice(start * D, end * D);
  const logitTile = tileFor(rows, call);
  const tile = tileFor(rows, call, 'f32');
  const entryTile = tileFor(entries, call, 'f32');
  const rowTiles = Math.ceil(rows / tile.rows);
  const numbers = { N: rows, D, entries, stride };
  const passes: Pass[] = [
    {
      shader: logitShader({ tile: logitTile, isVector: isVectorized(call, [hidden, weight]) }),
      arrays: { hidden, weight, list, records, dz },
      numbers: { ...numbers, firstEntry: start, inverse: inverseOf(call) },
      workgroups: [Math.ceil(rows / logitTile.rows), Math.ceil(entries / logitTile.columns), 1],
    },
  ];
  if (dWeight !== undefined) {
    passes.push({
      shader: weightShader({ tile: entryTile, isVector: isVectorized(call, [hidden, dWeight]) }),
      arrays: { hidden, list, dz, dWeight },
      numbers: { ...numbers, adds: isFirst ? 0 : 1 },
      workgroups: [Math.ceil(entries / entryTile.rows), Math.ceil(D / entryTile.columns), 1],
    });
  }
  if (sums !== undefined) {
    passes.push({
      shader: hiddenShader({ tile, isVector: isVectorized(call, [weight, sums]) }),
      arrays: { weight, list, dz, sums },
      numbers,
      workgroups: [rowTiles, Math.ceil(D / tile.columns), 1],
    });
  }
  return passes;
}

export function linearLogprobBackward(call: KernelCall): readonly Pass[] {
  const { N, D, V } = call.dims;
  inverseOf(call);
  const { dLogprobs, dEntropy, dHidden, dWeight } = call.arrays;
  const unit = 2 * TILE;
  const perBinding = rowsPerBinding(call, Math.max(1, 4 * D), unit);
  // Where sums over the vocabulary are cut must not depend on the number of rows.
  const chunk = Math.min(ENTRIES, perBinding, rowsPerBinding(call, 4 * unit, unit));
  const step = Math.min(ROWS, perBinding, rowsPerBinding(call, 4 * chunk, unit));
  if ((dLogprobs === undefined && dEntropy === undefined) || N === 0 || V === 0) {
    return [...zeroAll(call, dHidden), ...zeroAll(call, dWeight)];
  }
  const [entropy, lse] = [operand(call, 'entropy'), operand(call, 'lse')];
  const rowsMost = Math.min(N, step);
  const dzLength = roundUp(rowsMost, TILE) * roundUp(Math.min(V, chunk), TILE);
  const list = call.scratch('i32', 2 * rowsMost + 1);
  const records = call.scratch('f32', 4 * rowsMost);
  const dz = call.scratch('f32', dzLength);
  const isRounded = bytesOfStored(call) < 4;
  const wide = dHidden !== undefined && isRounded ? call.scratch('f32', rowsMost * D) : undefined;
  return pieces(N, step).flatMap(({ start, end }) => {
    const rows = end - start;
    const gradient = dHidden?.slice(start * D, end * D);
    const sums = wide?.slice(0, rows * D) ?? gradient;
    const hidden = operand(call, 'hidden').slice(start * D, end * D);
    const block: Block = { hidden, list, records, dz, rows, sums, isFirst: start === 0 };
    const ownLse = lse.slice(start, end);
    return [
      {
        shader: listShader,
        arrays: {
          targets: operand(call, 'targets').slice(start, end),
          list,
          dLogprobs: dLogprobs?.slice(start, end) ?? ownLse,
          dEntropy: dEntropy?.slice(start, end) ?? ownLse,
          entropy: entropy.slice(start, end),
          lse: ownLse,
          records,
        },
        numbers: {
          N: rows,
          V,
          firstRow: start,
          hasLogprobs: dLogprobs === undefined ? 0 : 1,
          hasEntropy: dEntropy === undefined ? 0 : 1,
        },
        workgroups: [1, 1, 1] as const,
      },
      ...(sums === undefined ? [] : zeroRows(sums, rows, D, rows)),
      ...pieces(V, chunk).flatMap((entries) => chunkPasses(call, block, entries)),
      ...(wide === undefined || gradient === undefined || sums === undefined
        ? []
        : [copyRows(sums, gradient, rows, D)]),
    ];
  });
}

function roundUp(value: number, unit: number): number {
  return Math.ceil(value / unit) * unit;
}
