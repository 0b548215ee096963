/**
 * ∂q = scale·Σ ∂s·k for a tile of query rows: the tiles, blocks and scores of the forward.
 *
 * A workgroup owns 64 rows of one segment and key head and up to 128 elements of their gradients,
 * in registers. For each block of keys it makes the scores and ∂out·vᵀ, both staged in slices, then
 * ∂s, which lies where the weights of the forward do.
 */
import type { GpuArray } from '../kernel.ts';
import { type Shader, shader } from '../shader.ts';
import { ROWS_IN_SLICE } from './attend.ts';
import {
  groupingKey,
  headReader,
  headUse,
  headWriter,
  placedReader,
  SLICE_NUMBERS,
  slicedReader,
  slicedUses,
} from './heads.ts';
import { ROW_NUMBERS, rowWork } from './row-work.ts';
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

const STEPS_MOST = 4;

export const querySlices = (shape: TileShape, D: number): number =>
  outputSlices(shape, D, STEPS_MOST).slices;

export interface QueryGradientOptions {
  readonly shape: TileShape;
  readonly D: number;
  readonly q: GpuArray;
  /** In slices, as many of v as of k. */
  readonly k: readonly GpuArray[];
  readonly v: readonly GpuArray[];
  readonly dOut: GpuArray;
  readonly dQ: GpuArray;
}

/** What the shaders of every tile bind. */
export const queryGradientBindings = ({
  D,
  q,
  k,
  v,
  dOut,
  dQ,
}: Omit<QueryGradientOptions, 'shape'>): Pick<Shader, 'arrays' | 'numbers'> => ({
  arrays: {
    q: headUse('read', q, D),
    ...slicedUses('k', k, D),
    ...slicedUses('v', v, D),
    dOut: headUse('read', dOut, D),
    statistics: 'read f32',
    plan: 'read i32 vec4',
    dQ: headUse('write', dQ, D),
  },
  numbers: { ...ROW_NUMBERS, ...SLICE_NUMBERS, headScale: 'f32', hasUpstream: 'u32' },
});

function makeShader(options: QueryGradientOptions): Shader {
  const { shape, D, q, k, v, dOut, dQ } = options;
  const { steps } = outputSlices(shape, D, STEPS_MOST);
  const write = forOutputs(
    shape,
    steps,
    (i, row) => `let place = rowAt[${row}];
    if (place != NONE && c < p.groups) {
      put_head_dQ(place - p.firstHead, c, o[${i}] * p.headScale);
    }`,
  );
  return shader({
    name: 'attention: gradient of q',
    ...queryGradientBindings(options),
    threads: [threadsOf(shape), 1, 1],
    body: `
${headReader('q', q, D)}
${slicedReader('k', k, D)}
${slicedReader('v', v, D)}
${headReader('dOut', dOut, D)}
${headWriter('dQ', dQ, D)}
${rowWork(shape.rows)}

${ROWS_IN_SLICE}

var<workgroup> tile: array<vec4f, ${tileGroups(shape, steps)}>;
var<workgroup> rowAt: array<u32, ${shape.rows}>;
var<workgroup> keyAt: array<u32, ${KEYS}>;
var<workgroup> sights: array<vec2i, ${shape.rows}>;
// lse·log₂e and δ.
var<workgroup> sums: array<vec2f, ${shape.rows}>;
var<workgroup> found: Work;

${placedReader('staged_query', 'q', { places: 'rowAt', first: 'p.firstHead', factor: 'p.scale' })}
${placedReader('staged_key', 'k', { places: 'keyAt' })}
${placedReader('staged_upstream', 'dOut', { places: 'rowAt', first: 'p.firstHead' })}
${placedReader('staged_value', 'v', { places: 'keyAt' })}

fn main(at: Place) {
  ${lanes(shape)}
  let firstGroup = at.group.z % p.slices * ${steps * columnLanes(shape)}u;
  if (index == 0u) { found = work_in_slice(find_work(at)); }
  let work = workgroupUniformLoad(&found);
  if (work.rows == 0u) { return; }

  if (index < ${shape.rows}u) {
    var place = NONE;
    var sight = vec2i();
    var sum = vec2f();
    if (index < work.rows) {
      place = row_in_slice(row_at(work, index));
      sight = sight_of(work, index);
      if (place != NONE) {
        sum = vec2f(get_statistics(2u * place), get_statistics(2u * place + 1u));
      }
    }
    rowAt[index] = place;
    sights[index] = sight;
    sums[index] = sum;
  }
  let keys = sight_of(work, work.rows - 1u).y;
  var o = array<vec4f, ${shape.rowsPerThread * steps}>();
  for (var block = work.fromBlock; block < work.endBlock; block++) {
    if (index < ${KEYS}u) { keyAt[index] = key_at(work, i32(block * ${KEYS}u + index), keys); }
    var s = array<vec4f, ${shape.rowsPerThread}>();
    var g = array<vec4f, ${shape.rowsPerThread}>();
    ${product({
      shape,
      into: 's',
      a: (row, c) => `staged_query(${row}, ${c})`,
      b: (column, c) => `staged_key(${column}, ${c})`,
    })}
    if (p.hasUpstream != 0u) {
      ${product({
        shape,
        into: 'g',
        a: (row, c) => `staged_upstream(${row}, ${c})`,
        b: (column, c) => `staged_value(${column}, ${c})`,
      })}
    }
    let key = vec4i(i32(block * ${KEYS}u + 4u * columnLane)) + vec4i(0, 1, 2, 3);
    workgroupBarrier();
    ${forRows(
      shape,
      (i, row) => `{
      let sight = sights[${row}];
      let sum = sums[${row}];
      let seen = (key >= vec4i(sight.x)) & (key < vec4i(sight.y));
      let weights = exp2(s[${i}] - vec4f(sum.x)) * (g[${i}] - vec4f(sum.y));
      tile[${weightAt(shape, row, 'columnLane')}] = select(vec4f(), weights, seen);
    }`,
    )}
    ${accumulate({
      shape,
      steps,
      into: 'o',
      b: (column, c) => `staged_key(${column}, ${c})`,
    })}
  }
  // A row that meets no block has not passed a barrier yet.
  workgroupBarrier();
  ${write}
}`,
  });
}

/**
 * The names: q, dOut, dQ and the slices of k and v; plan, statistics; headScale is the op's scale.
 * Without `hasUpstream` ∂out is zero, and any array may stand in for it.
 */
export const queryGradientShader: (options: QueryGradientOptions) => Shader = variants(
  ({ shape, D, q, k, v, dOut, dQ }) =>
    [
      shapeKey(shape),
      outputSlices(shape, D, STEPS_MOST).steps,
      k.length,
      groupingKey([q, dOut, dQ, ...k, ...v], D),
    ].join(' '),
  makeShader,
);
