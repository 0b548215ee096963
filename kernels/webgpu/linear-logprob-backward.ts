/**
 * The gradients of log-probability and entropy by hidden and weight, without an [N, V] array.
 *
 *   ∂zⱼ = ∂logprob·(1[j = target] − pⱼ) − ∂entropy·pⱼ·(ln pⱼ + H)
 *   ∂hidden = ∂z·weight / temperature      ∂weight = ∂zᵀ·hidden / temperature
 *
 * For each block of at most 2048 rows and each 4096 entries of the vocabulary: logits again, turned
 * into ∂z as they leave the tile (at most 32 MiB, a thirty-seventh of the block's logits where V is
 * 151 936); ∂weight of these entries; and what they add to ∂hidden. All three are products on the
 * tile of common/square-tile.ts, a workgroup owning 64 × 64 results. Sums run over rows and over
 * the vocabulary in order, without atomics. Rows without a target are left out of every product.
 */
import { operand } from './common/operands.ts';
import { rowListShader } from './common/row-list.ts';
import { copyRows, zeroRows } from './common/rows.ts';
import {
  rowAdder,
  rowLoader,
  rowOfSum,
  TILE,
  TILE_MEMORY,
  TILE_PLACE,
  TILE_THREADS,
  tileSums,
} from './common/square-tile.ts';
import { variants } from './common/variants.ts';
import { bytesOfStored, isVectorized, pieces, rowsPerBinding } from './common/vocabulary.ts';
import { zeroAll } from './common/zero.ts';
import type { GpuArray, KernelCall, Pass } from './kernel.ts';
import { shader } from './shader.ts';

const ROWS = 2048;
const ENTRIES = 4096;
const EIGHT = [0, 1, 2, 3, 4, 5, 6, 7] as const;

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

/** dz [rows, stride] = ∂L/∂z / temperature, 0 at the edges of the tiles. */
const logitShader = variants(String, (isVector: boolean) => {
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
    threads: [TILE_THREADS, 1, 1],
    body: `
${TILE_MEMORY}
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

fn store(position: u32, count: u32, entry: u32, low: vec4<f32>, high: vec4<f32>) {
  var first: vec4<f32>;
  var second: vec4<f32>;
  if (position < count) {
    let record = get_records(position);
    let wanted = get_list(p.N + position) - i32(p.firstEntry);
    first = logit_gradient(low, entry, wanted, record);
    second = logit_gradient(high, entry + 32u, wanted, record);
  }
  let out = (position * p.stride + entry) >> 2u;
  put_dz(out, first);
  put_dz(out + 8u, second);
}

fn main(at: Place, group: vec3<u32>) {
  let count = u32(get_list(2u * p.N));
  let base = group.x * ${TILE}u;
  if (base >= count) { return; }
  let entry = group.y * ${TILE}u;
  ${TILE_PLACE}
  ${[0, 1, 2, 3].map((i) => `let row${i} = row_at(base + 4u * block + ${i}u, count);`).join('\n  ')}
  ${tileSums(
    { along: 'depth', load: (i) => `load_weight(entry + 4u * block + ${i}u, k)` },
    { along: 'depth', load: (i) => `load_hidden(row${i}, k)` },
    'p.D',
  )}
  ${EIGHT.map(
    (r) =>
      `store(base + ${rowOfSum(r)}, count, entry + 4u * x, sums[${2 * r}], sums[${2 * r + 1}]);`,
  ).join('\n  ')}
}`,
  });
});

/** ∂weight of a chunk of entries: ∂zᵀ·hidden over the rows of a block. */
const weightShader = variants(String, (isVector: boolean) => {
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
    threads: [TILE_THREADS, 1, 1],
    body: `
${TILE_MEMORY}
${ROW_AT}
${rowLoader('hidden', { rows: 'p.N', width: 'p.D', isVector })}
${rowAdder('dWeight', { rows: 'p.entries', width: 'p.D', isVector })}

fn main(at: Place, group: vec3<u32>) {
  let count = u32(get_list(2u * p.N));
  let entry = group.x * ${TILE}u;
  let column = group.y * ${TILE}u;
  ${TILE_PLACE}
  ${tileSums(
    { along: 'width', load: (i) => `load_hidden(row_at(k + ${i}u, count), column + 4u * block)` },
    { along: 'width', load: (i) => `get_dz(((k + ${i}u) * p.stride + entry + 4u * block) >> 2u)` },
    'count',
  )}
  ${EIGHT.map(
    (r) => `add_dWeight(entry + ${rowOfSum(r)}, column + 4u * x, sums[${2 * r}], p.adds != 0u);
  add_dWeight(entry + ${rowOfSum(r)}, column + 32u + 4u * x, sums[${2 * r + 1}], p.adds != 0u);`,
  ).join('\n  ')}
}`,
  });
});

/** What a chunk of entries adds to ∂hidden: ∂z·weight. */
const hiddenShader = variants(String, (isVector: boolean) => {
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
    threads: [TILE_THREADS, 1, 1],
    body: `
${TILE_MEMORY}
${ROW_AT}
${rowLoader('weight', { rows: 'p.entries', width: 'p.D', isVector })}
${rowAdder('sums', { rows: 'p.N', width: 'p.D', isVector })}

fn main(at: Place, group: vec3<u32>) {
  let count = u32(get_list(2u * p.N));
  let base = group.x * ${TILE}u;
  if (base >= count) { return; }
  let column = group.y * ${TILE}u;
  ${TILE_PLACE}
  ${tileSums(
    { along: 'width', load: (i) => `load_weight(k + ${i}u, column + 4u * block)` },
    { along: 'depth', load: (i) => `get_dz(((base + 4u * block + ${i}u) * p.stride + k) >> 2u)` },
    'p.entries',
  )}
  ${EIGHT.map(
    (r) => `{
    let row = row_at(base + ${rowOfSum(r)}, count);
    add_sums(row, column + 4u * x, sums[${2 * r}], true);
    add_sums(row, column + 32u + 4u * x, sums[${2 * r + 1}], true);
  }`,
  ).join('\n  ')}
}`,
  });
});

/** What all passes of one block of rows have in common. */
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
  const [rowTiles, entryTiles, columnTiles] = [rows, entries, D].map((n) => Math.ceil(n / TILE));
  const numbers = { N: rows, D, entries, stride };
  const passes: Pass[] = [
    {
      shader: logitShader(isVectorized(call, [hidden, weight])),
      arrays: { hidden, weight, list, records, dz },
      numbers: { ...numbers, firstEntry: start, inverse: inverseOf(call) },
      workgroups: [rowTiles, entryTiles, 1],
    },
  ];
  if (dWeight !== undefined) {
    passes.push({
      shader: weightShader(isVectorized(call, [hidden, dWeight])),
      arrays: { hidden, list, dz, dWeight },
      numbers: { ...numbers, adds: isFirst ? 0 : 1 },
      workgroups: [entryTiles, columnTiles, 1],
    });
  }
  if (sums !== undefined) {
    passes.push({
      shader: hiddenShader(isVectorized(call, [weight, sums])),
      arrays: { weight, list, dz, sums },
      numbers,
      workgroups: [rowTiles, columnTiles, 1],
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
