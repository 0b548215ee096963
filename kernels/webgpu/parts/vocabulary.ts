/**
 * Logits of some rows against the vocabulary, folded at once into what the softmax needs.
 * linearLogprob and linearSample run the same shader here, so the log-probability recorded while
 * sampling has the bits of the one recomputed for training.
 *
 * The vocabulary is cut at multiples of FOLD. A workgroup owns a tile of rows (from 1 to 64, by
 * how many there are) × one fold: it makes tiles of logits, 64 entries wide, hands them over in
 * workgroup memory, and each row has a thread that walks its entries in order, 32 at a time. A fold
 * gives m = max z, s = Σ e^(z−m) and t = Σ e^(z−m)·(z−m); one workgroup per row merges the folds in
 * an order that depends on their number alone. Then lse = m + ln s and the entropy is ln s − t/s,
 * which does not cancel.
 *
 * Rows go in blocks of at most 4096, and 16 bytes per row and fold are kept, 24 when sampling: for a
 * vocabulary of 151 936 that is 37 MiB, a sixty-fourth of the block's logits.
 */
import type { GpuArray, KernelCall, Pass } from '../kernel.ts';
import { type Shader, shader } from '../shader.ts';
import { LOGARITHM, PHILOX } from './philox.ts';
import { rowLoader } from './row-access.ts';
import { bytesOfStored, pieces, rowsPerBinding } from './slices.ts';
import { sumsOf, tileFeatures, tileMemory, tilePlace, tileSums } from './sum-tile.ts';
import { across, type SumTile, tileThreads } from './tile-shape.ts';
import { tileFor, tileKey } from './tiles.ts';
import { variants } from './variants.ts';

/** Entries of the vocabulary in one fold. */
export const FOLD = 256;
const ROWS_MOST = 4096;
/** Slices start on multiples of this many rows, which puts them on any device's offset alignment. */
const SLICE_ROWS = 128;

/** `merge(a, b)` of two (m, s, t), and `EMPTY`. */
export const MERGE = `
const LEAST = -3.0e38;
const EMPTY = vec3<f32>(LEAST, 0.0, 0.0);

fn merge(a: vec3<f32>, b: vec3<f32>) -> vec3<f32> {
  let m = max(a.x, b.x);
  // Below −200 the exponential is 0; the bound keeps the shift of an empty part finite.
  let shift_a = max(a.x - m, -200.0);
  let shift_b = max(b.x - m, -200.0);
  let scale_a = exp(shift_a);
  let scale_b = exp(shift_b);
  return vec3<f32>(
    m,
    fma(scale_a, a.y, scale_b * b.y),
    fma(scale_a, fma(shift_a, a.y, a.z), scale_b * fma(shift_b, b.y, b.z)));
}`;

/** `merge_threads(own, thread)`: a workgroup's 64 (m, s, t) as one, the same in every thread. */
const MERGE_THREADS = `
var<workgroup> merged: array<vec3<f32>, 64>;

fn merge_threads(own: vec3<f32>, thread: u32) -> vec3<f32> {
  merged[thread] = own;
  workgroupBarrier();
  for (var step = 32u; step > 0u; step >>= 1u) {
    if (thread < step) { merged[thread] = merge(merged[thread], merged[thread + step]); }
    workgroupBarrier();
  }
  return merged[0];
}`;

/**
 * `merge_folds(position, thread)`: the (m, s, t) of a row over all its folds, the same in
 * every thread of a workgroup of 64 that has `parts` and the number `folds`.
 */
export const MERGE_FOLDS = `
${MERGE_THREADS}

fn merge_folds(position: u32, thread: u32) -> vec3<f32> {
  var whole = EMPTY;
  for (var fold = thread; fold < p.folds; fold += 64u) {
    whole = merge(whole, get_parts(position * p.folds + fold).xyz);
  }
  return merge_threads(whole, thread);
}`;

/** Entries that are folded in one go. */
export const AT_ONCE = 32;

/**
 * Statements that merge up to 32 logits into `part`: groups of four, `groups` of them, read at `j`
 * with a mask of those that count.
 */
export const foldRun = (part: string, logits: string, isEntry: string): string => `
  var tops = vec4<f32>(${part}.x);
  for (var j = 0u; j < groups; j++) {
    tops = max(tops, select(vec4<f32>(LEAST), ${logits}, ${isEntry}));
  }
  let highest = max(max(tops.x, tops.y), max(tops.z, tops.w));
  var sum = 0.0;
  var weighted = 0.0;
  for (var j = 0u; j < groups; j++) {
    let isEntry = ${isEntry};
    let shifted = select(vec4<f32>(), ${logits} - vec4<f32>(highest), isEntry);
    let e = select(vec4<f32>(), exp(shifted), isEntry);
    ${['x', 'y', 'z', 'w']
      .map(
        (lane) => `sum += e.${lane};
    weighted = fma(e.${lane}, shifted.${lane}, weighted);`,
      )
      .join('\n    ')}
  }
  ${part} = merge(${part}, vec3<f32>(highest, sum, weighted));`;

/** The outputs of the fold beside the sums. */
const FOLD_MODES = { target: 0, draw: 1, greedy: 2, keep: 3 } as const;

/**
 * One tile of rows against one fold of a slice of the vocabulary.
 *
 * `list` is the row of each position, then as many targets, then how many positions count; when
 * sampling every row counts and `list` holds the keys. parts[row·folds + fold] = (m, s, t, the
 * target's or the drawn entry's logit); draws = the drawn entry's score as bits, and the entry. To
 * keep the logits, `logits` takes the place of `draws`: [rows, folds, FOLD].
 */
const foldShader = variants(
  ({ tile, isVector, keepsLogits }: FoldForm) => `${tileKey(tile)} ${isVector} ${keepsLogits}`,
  makeFoldShader,
);

interface FoldForm {
  readonly tile: SumTile;
  readonly isVector: boolean;
  readonly keepsLogits: boolean;
}

function makeFoldShader({ tile, isVector, keepsLogits }: FoldForm): Shader {
  const vec4 = isVector ? (' vec4' as const) : ('' as const);
  const threads = tileThreads(tile);
  const rowsEach = Math.ceil(tile.rows / threads);
  const handedAtOnce = Math.max(1, AT_ONCE / 4 / across(tile));
  const handedGroups = handedAtOnce * across(tile);
  // A row's logits lie side by side, rows an odd number of groups apart: they miss each other's banks.
  const stride = handedGroups + 1;
  /** `piece` for each row of a thread, with `r` and its `index` in the tile in scope. */
  const forEach = (piece: string): string =>
    rowsEach === 1
      ? `{ const r = 0u; let index = at.index; ${piece} }`
      : `for (var r = 0u; r < ${rowsEach}u; r++) { let index = at.index + ${threads}u * r; ${piece} }`;
  const forRows = (piece: string): string =>
    forEach(`if (index < ${tile.rows}u && base + index < count) { ${piece} }`);
  const handOver = (firstGroup: number): string => `
    ${sumsOf(
      tile,
      Array.from({ length: handedAtOnce }, (_, i) => firstGroup + i),
    )
      .map(({ row, column, value }) => {
        const group = `(${column} - ${4 * across(tile) * firstGroup}u) / 4u`;
        return `staging[${row} * ${stride}u + ${group}] = ${value} * p.inverse;`;
      })
      .join('\n    ')}
    workgroupBarrier();
    ${forRows(`var row = rows[r];
        for (var first = 0u; first < ${4 * handedGroups}u; first += ${AT_ONCE}u) {
          fold_entries(&row, index * ${stride}u + first / 4u,
            entry + ${4 * across(tile) * firstGroup}u + first);
        }
        rows[r] = row;`)}
    workgroupBarrier();`;
  const firstGroups = Array.from(
    { length: tile.groupsPerThread / handedAtOnce },
    (_, i) => i * handedAtOnce,
  );
  return shader({
    name: `fold of the vocabulary${vec4}`,
    arrays: {
      hidden: `read stored${vec4}`,
      weight: `read stored${vec4}`,
      list: 'read i32',
      parts: 'write f32 vec4',
      ...(keepsLogits ? { logits: 'write f32 vec4' } : { draws: 'write i32' }),
    },
    numbers: {
      N: 'u32',
      D: 'u32',
      entries: 'u32',
      firstEntry: 'u32',
      firstFold: 'u32',
      folds: 'u32',
      mode: 'u32',
      inverse: 'f32',
    },
    threads: [threads, 1, 1],
    ...tileFeatures(tile),
    body: `
${PHILOX}
${LOGARITHM}
${MERGE}
${tileMemory(tile, tile.rows * stride)}
var<workgroup> tile_rows: array<u32, ${tile.rows}>;
${rowLoader('hidden', { rows: 'p.N', width: 'p.D', isVector })}
${rowLoader('weight', { rows: 'p.entries', width: 'p.D', isVector })}

// A thread's row: what the fold has seen of it.
struct Row {
  part: vec3<f32>,
  logit: f32,
  wanted: i32,
  key: vec4<u32>,
  score: f32,
  token: i32,
  ${keepsLogits ? "// Where the row's logits go, in groups of four.\n  kept: u32," : ''}
}

fn consider(row: ptr<function, Row>, z: f32, score: f32, token: i32) {
  if ((*row).token >= 0 && !(score > (*row).score)) { return; }
  (*row).score = score;
  (*row).logit = z;
  (*row).token = token;
}

// Folds up to 32 logits, which lie at a place of workgroup memory and begin at an entry of the slice.
fn fold_entries(row: ptr<function, Row>, place: u32, first: u32) {
  let count = min(${AT_ONCE}u, p.entries - min(first, p.entries));
  if (count == 0u) { return; }
  let groups = (count + 3u) / 4u;
  let lanes = vec4<u32>(0u, 1u, 2u, 3u);
  ${foldRun('(*row).part', 'staging[place + j]', 'lanes + vec4<u32>(4u * j) < vec4<u32>(count)')}

  let token = i32(p.firstEntry + first);
  ${
    keepsLogits
      ? `for (var j = 0u; j < groups; j++) {
    put_logits((*row).kept + u32(token) / 4u + j, staging[place + j]);
  }
}`
      : `if (p.mode == ${FOLD_MODES.target}u) {
    let j = (*row).wanted - token;
    if (j >= 0 && j < i32(count)) {
      (*row).logit = staging[place + (u32(j) >> 2u)][u32(j) & 3u];
    }
    return;
  }
  for (var j = 0u; j < groups; j++) {
    var words: vec4<u32>;
    if (p.mode == ${FOLD_MODES.draw}u) {
      let counter = vec4<u32>((u32(token) >> 2u) + j, (*row).key.zw, 0u);
      words = philox(counter, (*row).key.xy);
    }
    let logits = staging[place + j];
    for (var i = 0u; i < min(4u, count - 4u * j); i++) {
      let z = logits[i];
      var score = z;
      if (p.mode == ${FOLD_MODES.draw}u) { score = z + gumbel(words[i]); }
      consider(row, z, score, token + i32(4u * j + i));
    }
  }
}`
  }

// The row of hidden at a position; beyond all rows where there is none.
fn row_at(position: u32, count: u32) -> u32 {
  if (position >= count) { return p.N; }
  if (p.mode != ${FOLD_MODES.target}u) { return position; }
  return u32(get_list(position));
}

fn main(at: Place, group: vec3<u32>) {
  var count = p.N;
  if (p.mode == ${FOLD_MODES.target}u) { count = u32(get_list(2u * p.N)); }
  let base = group.x * ${tile.rows}u;
  if (base >= count) { return; }
  let first = group.y * ${FOLD}u;
  let end = min(first + ${FOLD}u, p.entries);
  ${tilePlace(tile)}
  var rows: array<Row, ${rowsEach}>;
  ${forEach(`if (index < ${tile.rows}u) { tile_rows[index] = row_at(base + index, count); }`)}
  workgroupBarrier();

  ${forRows(`let position = base + index;
        var row = Row();
        row.part = EMPTY;
        row.token = -1;
        ${keepsLogits ? `row.kept = position * p.folds * ${FOLD / 4}u;` : ''}
        if (p.mode == ${FOLD_MODES.target}u) {
          row.wanted = get_list(p.N + position);
        } else {
          let words = vec4<i32>(get_list(4u * position), get_list(4u * position + 1u),
            get_list(4u * position + 2u), get_list(4u * position + 3u));
          row.key = bitcast<vec4<u32>>(words);
        }
        rows[r] = row;`)}
  for (var entry = first; entry < end; entry += ${tile.columns}u) {
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
    ${firstGroups.map(handOver).join('')}
  }
  ${forRows(`let row = rows[r];
        let out = (base + index) * p.folds + p.firstFold + group.y;
        put_parts(out, vec4<f32>(row.part, row.logit));
        ${
          keepsLogits
            ? ''
            : `if (p.mode != ${FOLD_MODES.target}u) {
          put_draws(2u * out, bitcast<i32>(row.score));
          put_draws(2u * out + 1u, row.token);
        }`
        }`)}
}`,
  });
}

/** Folds of a vocabulary of V entries. */
export const foldsOf = (V: number): number => Math.ceil(V / FOLD);

/** True where rows of D elements in these arrays can be read four at a time. */
export function isVectorized(call: KernelCall, arrays: readonly GpuArray[]): boolean {
  return call.dims.D % 4 === 0 && arrays.every(({ isAligned }) => isAligned);
}

/** Blocks of rows whose hidden states, folds and `bytesOfRow` each fit one binding. */
export function rowBlocks(
  call: KernelCall,
  bytesOfRow = 0,
): readonly { start: number; end: number }[] {
  const { N, D, V } = call.dims;
  const rowBytes = Math.max(1, bytesOfStored(call) * D, 16 * foldsOf(V), bytesOfRow);
  return pieces(N, Math.min(ROWS_MOST, rowsPerBinding(call, rowBytes, SLICE_ROWS)));
}

export interface FoldOptions {
  readonly mode: keyof typeof FOLD_MODES;
  /** Hidden states of the block's rows. */
  readonly hidden: GpuArray;
  /** As the fold shader wants it. */
  readonly list: GpuArray;
  readonly rows: number;
  readonly parts: GpuArray;
  /** The draws; the logits to keep for the mode `keep`. */
  readonly draws: GpuArray;
  readonly inverse: number;
}

/** The passes that fold the whole vocabulary for one block of rows. */
export function foldPasses(
  call: KernelCall,
  weight: GpuArray,
  { mode, hidden, list, rows, parts, draws, inverse }: FoldOptions,
): readonly Pass[] {
  const { D, V } = call.dims;
  const tile = tileFor(rows, call);
  const keepsLogits = mode === 'keep';
  const made = foldShader({ tile, isVector: isVectorized(call, [hidden, weight]), keepsLogits });
  const step = Math.min(
    rowsPerBinding(call, Math.max(1, D * bytesOfStored(call)), FOLD),
    FOLD * call.limits.workgroupsPerAxis,
  );
  return pieces(V, step).map(({ start, end }) => ({
    shader: made,
    arrays: {
      hidden,
      weight: weight.slice(start * D, end * D),
      list,
      parts,
      ...(keepsLogits ? { logits: draws } : { draws }),
    },
    numbers: {
      N: rows,
      D,
      entries: end - start,
      firstEntry: start,
      firstFold: start / FOLD,
      folds: foldsOf(V),
      mode: FOLD_MODES[mode],
      inverse,
    },
    workgroups: [Math.ceil(rows / tile.rows), foldsOf(end - start), 1],
  }));
}
