/**
 * Query rows against the logical keys they see, in one pass over blocks: training and decoding.
 *
 *   s = q·kᵀ·scale·log₂e     m′ = max(m, max s)     p = 2^(s − m′)     f = 2^(m − m′)
 *   l = l·f + Σ p            o = o·f + p·v          out = o / l        lse = m·ln 2 + ln l
 *
 * Milakov and Gimelshein 2018, arXiv:1805.02867; Dao 2023, arXiv:2307.08691, algorithm 1.
 *
 * Blocks are counted from logical key 0 of a row's path and always walked in order, a score is one
 * chain along the head, a sum one chain along the keys. So a row's bits depend on its own keys, not
 * on the rows beside it, on how the keys are stored, or on whether it trains or decodes. Rows beyond
 * the binding limit go in passes, each with a slice of q and out: a tile leaves out rows of others.
 * Keys and values, of which a block may need any, are bound as slices side by side.
 *
 * Layout: a workgroup owns a tile of rows and up to 128 elements of their outputs, in registers
 * (tile-product.ts). One thread a row turns its scores into weights. Workgroup memory is staged
 * heads first, then the scores, then the weights with staged values behind them: under 16 KiB.
 */
import type { GpuArray } from '../kernel.ts';
import type { ArrayUse, NumberKind, Shader } from '../shader.ts';
import { shader } from '../shader.ts';
import {
  groupingKey,
  HEAD_NUMBERS,
  headReader,
  headUse,
  headWriter,
  placedReader,
  SLICE_NUMBERS,
  slicedReader,
  slicedUses,
} from './heads.ts';
import {
  accumulate,
  columnLanes,
  forOutputs,
  forRows,
  lanes,
  outputSlices,
  product,
  type TileShape,
  threadsOf,
  tileGroups,
  weightAt,
} from './tile-product.ts';
import { KEYS, shapeKey } from './tiles.ts';
import { variants } from './variants.ts';

/** The score of a key that is not seen; no infinity, which WGSL need not have. */
export const UNSEEN = '-3.0e38';

/** Steps of 8 groups: 128 elements of an output are 64 registers of each thread of 4 rows. */
const STEPS_MOST = 4;

export const headScale = (scale: number, D: number): number =>
  scale === 0 ? 1 / Math.sqrt(D) : scale;

/** @throws RangeError if heads are empty */
export function expectHeads(D: number): void {
  if (D < 1) throw new RangeError(`heads have ${D} elements, expected at least one.`);
}

/** @throws RangeError if the window is not a number of keys */
export function checkedWindow(window: number): number {
  if (Number.isInteger(window) && window >= 0 && window < 2 ** 31 - 1) return window;
  throw new RangeError(
    `window is ${window}, expected a number of keys, or 0 for all before the query.`,
  );
}

/** Where rows and keys lie, which is all that training and decoding differ in. */
export interface AttendSource {
  readonly name: string;
  readonly arrays: Readonly<Record<string, ArrayUse>>;
  readonly numbers: Readonly<Record<string, NumberKind>>;
  /**
   * WGSL: `struct Work` with at least `rows`, `fromBlock` and `endBlock` (u32), and
   *
   *   fn find_work(at: Place) -> Work           the workgroup's; rows 0 for none
   *   fn row_at(work: Work, row: u32) -> u32    its head among those of q and out
   *   fn sight_of(work: Work, row: u32) -> vec2i   logical keys [x, y) that it sees
   */
  readonly functions: string;
  /** WGSL: variables of a thread that fetches keys; before the blocks, with `work` in sight. */
  readonly cursor: string;
  /** WGSL: sets `key` to where logical key `position` lies, among heads; leaves it where none. */
  readonly findKey: string;
}

export interface AttendOptions {
  readonly source: AttendSource;
  readonly shape: TileShape;
  readonly D: number;
  readonly q: GpuArray;
  /** In slices, as many of v as of k. */
  readonly k: readonly GpuArray[];
  readonly v: readonly GpuArray[];
  readonly out: GpuArray;
}

/** Slices of the outputs: workgroups along z are a multiple of them, slices innermost. */
export const attendSlices = (shape: TileShape, D: number): number =>
  outputSlices(shape, D, STEPS_MOST).slices;

/** WGSL: the work without rows where none of them is in the slice, and a row's place or `NONE`. */
export const ROWS_IN_SLICE = `
const NONE = 0xffffffffu;

fn work_in_slice(found: Work) -> Work {
  var work = found;
  if (work.rows == 0u) { return work; }
  if (row_at(work, work.rows - 1u) < p.firstHead || row_at(work, 0u) >= p.endHead) { work.rows = 0u; }
  return work;
}

fn row_in_slice(place: u32) -> u32 {
  return select(NONE, place, place >= p.firstHead && place < p.endHead);
}`;

/** What the shaders of every tile bind. */
export const attendBindings = ({
  source,
  D,
  q,
  k,
  v,
  out,
}: Omit<AttendOptions, 'shape'>): Pick<Shader, 'arrays' | 'numbers'> => ({
  arrays: {
    q: headUse('read', q, D),
    ...slicedUses('k', k, D),
    ...slicedUses('v', v, D),
    out: headUse('write', out, D),
    lse: 'write u32',
    ...source.arrays,
  },
  numbers: {
    ...HEAD_NUMBERS,
    ...SLICE_NUMBERS,
    H: 'u32',
    rowsPerHead: 'u32',
    scale: 'f32',
    slices: 'u32',
    ...source.numbers,
  },
});

function makeShader(options: AttendOptions): Shader {
  const { source, shape, D, q, k, v, out } = options;
  const { steps } = outputSlices(shape, D, STEPS_MOST);
  const { rows } = shape;
  return shader({
    name: source.name,
    ...attendBindings(options),
    threads: [threadsOf(shape), 1, 1],
    body: `
${headReader('q', q, D)}
${slicedReader('k', k, D)}
${slicedReader('v', v, D)}
${headWriter('out', out, D)}
${source.functions}

${ROWS_IN_SLICE}

var<workgroup> tile: array<vec4f, ${tileGroups(shape, steps)}>;
var<workgroup> rowAt: array<u32, ${rows}>;
var<workgroup> keyAt: array<u32, ${KEYS}>;
var<workgroup> factors: array<f32, ${rows}>;
var<workgroup> found: Work;

${placedReader('staged_query', 'q', { places: 'rowAt', first: 'p.firstHead', factor: 'p.scale' })}
${placedReader('staged_key', 'k', { places: 'keyAt' })}
${placedReader('staged_value', 'v', { places: 'keyAt' })}

fn main(at: Place) {
  ${lanes(shape)}
  let slice = at.group.z % p.slices;
  let firstGroup = slice * ${steps * columnLanes(shape)}u;
  if (index == 0u) { found = work_in_slice(find_work(at)); }
  let work = workgroupUniformLoad(&found);
  if (work.rows == 0u) { return; }

  var sight = vec2i();
  var top = ${UNSEEN};
  var sum = 0.0;
  if (index < ${rows}u) {
    var place = NONE;
    if (index < work.rows) {
      place = row_in_slice(row_at(work, index));
      sight = sight_of(work, index);
    }
    rowAt[index] = place;
  }
  ${source.cursor}
  var o = array<vec4f, ${shape.rowsPerThread * steps}>();
  for (var block = work.fromBlock; block < work.endBlock; block++) {
    if (index < ${KEYS}u) {
      let position = i32(block * ${KEYS}u + index);
      var key = NONE;
      ${source.findKey}
      keyAt[index] = key;
    }
    var s = array<vec4f, ${shape.rowsPerThread}>();
    ${product({
      shape,
      into: 's',
      a: (row, c) => `staged_query(${row}, ${c})`,
      b: (column, c) => `staged_key(${column}, ${c})`,
    })}
    workgroupBarrier();
    ${forRows(shape, (i, row) => `tile[${weightAt(shape, row, 'columnLane')}] = s[${i}];`)}
    workgroupBarrier();
    if (index < ${rows}u) {
      let first = vec4i(i32(block * ${KEYS}u)) + vec4i(0, 1, 2, 3);
      var tops = vec4f(${UNSEEN});
      for (var j = 0; j < ${KEYS / 4}; j++) {
        let key = first + vec4i(4 * j);
        let seen = (key >= vec4i(sight.x)) & (key < vec4i(sight.y));
        let scores = tile[${weightAt(shape, 'index', 'u32(j)')}];
        tops = max(tops, select(vec4f(${UNSEEN}), scores, seen));
      }
      let next = max(top, max(max(tops.x, tops.y), max(tops.z, tops.w)));
      var total = 0.0;
      for (var j = 0; j < ${KEYS / 4}; j++) {
        let key = first + vec4i(4 * j);
        let seen = (key >= vec4i(sight.x)) & (key < vec4i(sight.y));
        let weights = exp2(tile[${weightAt(shape, 'index', 'u32(j)')}] - vec4f(next));
        let w = select(vec4f(), weights, seen);
        total += w.x;
        total += w.y;
        total += w.z;
        total += w.w;
        tile[${weightAt(shape, 'index', 'u32(j)')}] = w;
      }
      let factor = select(exp2(top - next), 1.0, top == next);
      sum = fma(sum, factor, total);
      top = next;
      factors[index] = factor;
    }
    workgroupBarrier();
    ${forRows(shape, (i, row) =>
      Array.from({ length: steps }, (_, s) => `o[${i * steps + s}] *= factors[${row}];`).join('\n'),
    )}
    ${accumulate({
      shape,
      steps,
      into: 'o',
      b: (column, c) => `staged_value(${column}, ${c})`,
    })}
  }

  workgroupBarrier();
  if (index < ${rows}u) {
    let isEmpty = sum == 0.0;
    factors[index] = select(1.0 / sum, 0.0, isEmpty);
    let row = rowAt[index];
    if (slice == 0u && row != NONE) {
      let lse = fma(top, ${Math.LN2}, log(sum));
      let bits = select(bitcast<u32>(lse), 0xff800000u, isEmpty);
      put_lse(row % p.H * p.rowsPerHead + row / p.H, bits);
    }
  }
  workgroupBarrier();
  ${forOutputs(
    shape,
    steps,
    (i, row) => `let place = rowAt[${row}];
    if (place != NONE && c < p.groups) {
      put_head_out(place - p.firstHead, c, o[${i}] * factors[${row}]);
    }`,
  )}
}`,
  });
}

/**
 * The names beside the source's: q, out and the slices of k and v; lse; those of SLICE_NUMBERS, H, rowsPerHead, slices and scale, which is that
 * of the op times log₂e.
 */
export const attendShader: (options: AttendOptions) => Shader = variants(
  ({ source, shape, D, q, k, v, out }) =>
    [
      source.name,
      shapeKey(shape),
      outputSlices(shape, D, STEPS_MOST).steps,
      k.length,
      groupingKey([q, out, ...k, ...v], D),
    ].join(' '),
  makeShader,
);
