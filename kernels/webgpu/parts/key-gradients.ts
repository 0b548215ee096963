/**
 * ∂v = pᵀ·∂out and ∂k = scale·∂sᵀ·q for a tile of keys.
 *
 * A workgroup owns 32 keys of one segment and key head, and up to 128 elements of both gradients,
 * in registers. It walks the rows (token, query head) from the first that sees a key to the end of the
 * segment's subtree, 64 at a time: all of them lie on paths through the segment. With a window,
 * steps of rows that are too far are passed over.
 * Keys beyond the binding limit go in passes, each with a slice of k and v; rows beyond it too, each
 * pass adding to the sums of the one before.
 */
import type { GpuArray } from '../kernel.ts';
import { type Shader, shader } from '../shader.ts';
import { groupingKey, headReader, headUse, headWriter, placedReader } from './heads.ts';
import { KEY_NUMBERS, keyWork } from './key-work.ts';
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
import { shapeKey } from './tiles.ts';
import { variants } from './variants.ts';

const STEPS_MOST = 2;

export const keySlices = (shape: TileShape, D: number): number =>
  outputSlices(shape, D, STEPS_MOST).slices;

export interface KeyGradientOptions {
  /** Its rows are keys, its columns query rows. */
  readonly shape: TileShape;
  readonly D: number;
  /** True where the sums go to float32 parts, not scaled, and where they are added to those. */
  readonly isPart: boolean;
  readonly adds: boolean;
  readonly q: GpuArray;
  readonly k: GpuArray;
  readonly v: GpuArray;
  readonly dOut: GpuArray;
  readonly dK: GpuArray;
  readonly dV: GpuArray;
}

/** What the shaders of every tile bind. */
export function keyGradientBindings({
  D,
  isPart,
  q,
  k,
  v,
  dOut,
  dK,
  dV,
}: Omit<KeyGradientOptions, 'shape'>): Pick<Shader, 'arrays' | 'numbers'> {
  const kind = isPart ? 'f32' : 'stored';
  return {
    arrays: {
      q: headUse('read', q, D),
      k: headUse('read', k, D),
      v: headUse('read', v, D),
      dOut: headUse('read', dOut, D),
      statistics: 'read f32',
      plan: 'read i32 vec4',
      dK: headUse('write', dK, D, kind),
      dV: headUse('write', dV, D, kind),
    },
    numbers: KEY_NUMBERS,
  };
}

function makeShader(options: KeyGradientOptions): Shader {
  const { shape, D, isPart, adds, q, k, v, dOut, dK, dV } = options;
  const { rows, columns } = shape;
  const { steps } = outputSlices(shape, D, STEPS_MOST);
  const write = (name: string, sums: string, factor: string): string =>
    forOutputs(
      shape,
      steps,
      (i, row) => `if (keyAt[${row}] != NONE && c < p.groups) {
      let place = work.share * p.keyHeads + keyAt[${row}] - p.firstKey * p.G;
      put_head_${name}(place, c, ${sums}[${i}]${isPart ? '' : factor});
    }`,
    );
  const restore = (name: string, sums: string): string =>
    forOutputs(
      shape,
      steps,
      (i, row) => `if (keyAt[${row}] != NONE && c < p.groups) {
      ${sums}[${i}] = head_${name}(work.share * p.keyHeads + keyAt[${row}] - p.firstKey * p.G, c);
    }`,
    );
  const gather = (weights: (i: number) => string, into: string, b: string): string => `
    workgroupBarrier();
    ${forRows(shape, (i, row) => `tile[${weightAt(shape, row, 'columnLane')}] = ${weights(i)};`)}
    ${accumulate({ shape, steps, into, b: (column, c) => `${b}(${column}, ${c})` })}`;
  return shader({
    name: 'attention: gradients of k and v',
    ...keyGradientBindings(options),
    threads: [threadsOf(shape), 1, 1],
    body: `
${headReader('q', q, D)}
${headReader('k', k, D)}
${headReader('v', v, D)}
${headReader('dOut', dOut, D)}
${headWriter('dK', dK, D)}
${headWriter('dV', dV, D)}
${adds ? headReader('dK', dK, D) + headReader('dV', dV, D) : ''}
${keyWork(rows)}

var<workgroup> tile: array<vec4f, ${tileGroups(shape, steps)}>;
var<workgroup> keyAt: array<u32, ${rows}>;
var<workgroup> columnAt: array<u32, ${columns}>;
// Positions [x, y) that a row sees.
var<workgroup> sights: array<vec2i, ${columns}>;
// lse·log₂e and δ.
var<workgroup> sums: array<vec2f, ${columns}>;
var<workgroup> nearest: atomic<i32>;
var<workgroup> firstSeen: i32;
var<workgroup> found: Work;

${placedReader('staged_key', 'k', { places: 'keyAt', first: 'p.firstKey * p.G' })}
${placedReader('staged_query', 'q', { places: 'columnAt', first: 'p.firstRow * p.H' })}
${placedReader('staged_value', 'v', { places: 'keyAt', first: 'p.firstKey * p.G' })}
${placedReader('staged_upstream', 'dOut', { places: 'columnAt', first: 'p.firstRow * p.H' })}

fn main(at: Place) {
  ${lanes(shape)}
  let firstGroup = at.group.z % p.slices * ${steps * columnLanes(shape)}u;
  if (index == 0u) { found = find_work(at); }
  let work = workgroupUniformLoad(&found);
  if (work.keys == 0u) { return; }
  if (index < ${rows}u) { keyAt[index] = key_at(work, index); }
  workgroupBarrier();

  var keySums = array<vec4f, ${shape.rowsPerThread * steps}>();
  var valueSums = array<vec4f, ${shape.rowsPerThread * steps}>();
  ${
    adds
      ? `if (p.wantsKeys != 0u) {
    ${restore('dK', 'keySums')}
  }
  if (p.wantsValues != 0u) {
    ${restore('dV', 'valueSums')}
  }`
      : ''
  }
  for (var first = work.firstRow; first < work.rows; first += ${columns}u) {
    var row = Row(NONE, vec2i(), vec2f());
    if (index < ${columns}u) {
      row = row_of(work, first + index);
      columnAt[index] = row.place;
      sights[index] = row.sight;
      sums[index] = row.statistics;
    }
    if (p.window > 0u) {
      if (index == 0u) { atomicStore(&nearest, 0x7fffffff); }
      workgroupBarrier();
      if (row.sight.y > 0) { atomicMin(&nearest, row.sight.x); }
      workgroupBarrier();
      if (index == 0u) { firstSeen = atomicLoad(&nearest); }
      if (workgroupUniformLoad(&firstSeen) >= work.position + i32(work.keys)) { continue; }
    }
    var s = array<vec4f, ${shape.rowsPerThread}>();
    var g = array<vec4f, ${shape.rowsPerThread}>();
    ${product({
      shape,
      into: 's',
      a: (row, c) => `staged_key(${row}, ${c})`,
      // As the forward has it, to the bit.
      b: (column, c) => `(staged_query(${column}, ${c}) * p.scale)`,
    })}
    if (p.hasUpstream != 0u && p.wantsKeys != 0u) {
      ${product({
        shape,
        into: 'g',
        a: (row, c) => `staged_value(${row}, ${c})`,
        b: (column, c) => `staged_upstream(${column}, ${c})`,
      })}
    }
    let lane = 4u * columnLane;
    let sight0 = sights[lane];
    let sight1 = sights[lane + 1u];
    let sight2 = sights[lane + 2u];
    let sight3 = sights[lane + 3u];
    let sum0 = sums[lane];
    let sum1 = sums[lane + 1u];
    let sum2 = sums[lane + 2u];
    let sum3 = sums[lane + 3u];
    let lowest = vec4i(sight0.x, sight1.x, sight2.x, sight3.x);
    let end = vec4i(sight0.y, sight1.y, sight2.y, sight3.y);
    let lse = vec4f(sum0.x, sum1.x, sum2.x, sum3.x);
    let delta = vec4f(sum0.y, sum1.y, sum2.y, sum3.y);
    ${forRows(
      shape,
      (i, row) => `{
      let position = vec4i(work.position + i32(${row}));
      let seen = (position >= lowest) & (position < end);
      s[${i}] = select(vec4f(), exp2(s[${i}] - lse), seen);
      g[${i}] = select(vec4f(), s[${i}] * (g[${i}] - delta), seen);
    }`,
    )}
    if (p.wantsValues != 0u) {
      ${gather((i) => `s[${i}]`, 'valueSums', 'staged_upstream')}
    }
    if (p.wantsKeys != 0u) {
      ${gather((i) => `g[${i}]`, 'keySums', 'staged_query')}
    }
  }
  if (p.wantsKeys != 0u) {
    ${write('dK', 'keySums', ' * p.headScale')}
  }
  if (p.wantsValues != 0u) {
    ${write('dV', 'valueSums', '')}
  }
}`,
  });
}

/**
 * The names beside those: plan, statistics; headScale is the op's scale. Without `hasUpstream` ∂out
 * is zero, without `wantsKeys` or `wantsValues` that gradient is not made, and any array may stand
 * in: numbers, so that there is one shader for all.
 */
export const keyGradientShader: (options: KeyGradientOptions) => Shader = variants(
  ({ shape, D, isPart, adds, q, k, v, dOut, dK, dV }) => {
    const { steps } = outputSlices(shape, D, STEPS_MOST);
    return [shapeKey(shape), steps, isPart, adds, groupingKey([q, k, v, dOut, dK, dV], D)].join(
      ' ',
    );
  },
  makeShader,
);
