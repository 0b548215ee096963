/**
 * The gradients of k and v where threads run on a CPU (parts/quads.ts): the steps and chains of
 * parts/key-gradients.ts, and so its bits, with weights and ∂s in registers.
 */
import { type Shader, shader } from '../shader.ts';
import { groupingKey, headReader, headWriter, placedReader } from './heads.ts';
import { type KeyGradientOptions, keyGradientBindings } from './key-gradients.ts';
import { keyWork } from './key-work.ts';
import {
  forQuadRows,
  forQuadScores,
  forQuadSums,
  QUAD_COLUMNS,
  QUAD_GROUPS,
  QUAD_ROWS,
  QUAD_THREADS,
  quadAccumulate,
  quadLanes,
  quadProduct,
  quadScores,
  quadSlices,
  quadSums,
  scoreAt,
} from './quads.ts';
import { variants } from './variants.ts';

type QuadKeyOptions = Omit<KeyGradientOptions, 'shape'>;

/** A row's place among the sums, in those of its share. */
const placeOf = (row: string): string =>
  `work.share * p.keyHeads + keyAt[${row}] - p.firstKey * p.G`;

function makeShader(options: QuadKeyOptions): Shader {
  const { D, isPart, adds, q, k, v, dOut, dK, dV } = options;
  const { groups } = quadSlices(D);
  const write = (name: string, sums: string, factor: string): string =>
    forQuadSums(
      sums,
      (sum, row) => `if (keyAt[${row}] != NONE) {
      put_head_${name}(${placeOf(row)}, c, ${sum}${isPart ? '' : factor});
    }`,
    );
  const restore = (name: string, sums: string): string =>
    forQuadSums(
      sums,
      (sum, row) => `if (keyAt[${row}] != NONE) { ${sum} = head_${name}(${placeOf(row)}, c); }`,
    );
  return shader({
    name: 'attention: gradients of k and v by quads',
    ...keyGradientBindings(options),
    threads: [QUAD_THREADS, 1, 1],
    subgroups: true,
    body: `
${headReader('q', q, D)}
${headReader('k', k, D)}
${headReader('v', v, D)}
${headReader('dOut', dOut, D)}
${headWriter('dK', dK, D)}
${headWriter('dV', dV, D)}
${adds ? headReader('dK', dK, D) + headReader('dV', dV, D) : ''}
${keyWork(QUAD_ROWS)}

var<workgroup> keyAt: array<u32, ${QUAD_ROWS}>;
var<workgroup> rowAt: array<u32, ${QUAD_COLUMNS}>;
var<workgroup> sights: array<vec2i, ${QUAD_COLUMNS}>;
// lse·log₂e and δ.
var<workgroup> statisticsOf: array<vec2f, ${QUAD_COLUMNS}>;
var<workgroup> nearest: atomic<i32>;
var<workgroup> firstSeen: i32;
var<workgroup> found: Work;

${placedReader('key_of', 'k', { places: 'keyAt', first: 'p.firstKey * p.G' })}
${placedReader('query_at', 'q', { places: 'rowAt', first: 'p.firstRow * p.H' })}
${placedReader('value_of', 'v', { places: 'keyAt', first: 'p.firstKey * p.G' })}
${placedReader('upstream_at', 'dOut', { places: 'rowAt', first: 'p.firstRow * p.H' })}

fn main(at: Place, group: vec3<u32>) {
  ${quadLanes(groups)}
  if (index == 0u) { found = find_work(at); }
  let work = workgroupUniformLoad(&found);
  if (work.keys == 0u) { return; }
  for (var key = index; key < ${QUAD_ROWS}u; key += ${QUAD_THREADS}u) { keyAt[key] = key_at(work, key); }
  workgroupBarrier();
  ${quadSums('keySums', groups)}
  ${quadSums('valueSums', groups)}
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
  for (var first = work.firstRow; first < work.rows; first += ${QUAD_COLUMNS}u) {
    if (index == 0u) { atomicStore(&nearest, 0x7fffffff); }
    workgroupBarrier();
    for (var i = index; i < ${QUAD_COLUMNS}u; i += ${QUAD_THREADS}u) {
      let row = row_of(work, first + i);
      rowAt[i] = row.place;
      sights[i] = row.sight;
      statisticsOf[i] = row.statistics;
      if (row.sight.y > 0) { atomicMin(&nearest, row.sight.x); }
    }
    workgroupBarrier();
    if (p.window > 0u) {
      if (index == 0u) { firstSeen = atomicLoad(&nearest); }
      if (workgroupUniformLoad(&firstSeen) >= work.position + i32(work.keys)) { continue; }
    }
    ${quadScores('s')}
    ${quadScores('g')}
    ${quadProduct({
      into: 's',
      a: (row) => `key_of(${row}, c)`,
      // As the forward has it, to the bit.
      b: (column) => `(query_at(${column}, c) * p.scale)`,
    })}
    if (p.hasUpstream != 0u && p.wantsKeys != 0u) {
      ${quadProduct({
        into: 'g',
        a: (row) => `value_of(${row}, c)`,
        b: (column) => `upstream_at(${column}, c)`,
      })}
    }
    ${QUAD_GROUPS.map(columnsOf).join('\n    ')}
    ${forQuadRows(
      (i, row) => `{
      let position = vec4i(work.position + i32(${row}));
      ${forQuadScores('s', i, (score, g) => {
        const slope = scoreAt('g', i, g);
        return `{
        let seen = (position >= lowest${g}) & (position < end${g});
        let weights = select(vec4f(), exp2(${score} - lse${g}), seen);
        ${slope} = select(vec4f(), weights * (${slope} - delta${g}), seen);
        ${score} = weights;
      }`;
      })}
    }`,
    )}
    if (p.wantsValues != 0u) {
      ${quadAccumulate({ into: 'valueSums', weights: 's', b: (column) => `upstream_at(${column}, c)` })}
    }
    if (p.wantsKeys != 0u) {
      ${quadAccumulate({ into: 'keySums', weights: 'g', b: (column) => `query_at(${column}, c)` })}
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

/** `let` lines of what four columns see, and of their statistics. */
function columnsOf(g: number): string {
  const four = (name: string, of: string, component: string, type: string): string =>
    `let ${name}${g} = ${type}(${[0, 1, 2, 3].map((j) => `${of}[${4 * g + j}].${component}`).join(', ')});`;
  return [
    four('lowest', 'sights', 'x', 'vec4i'),
    four('end', 'sights', 'y', 'vec4i'),
    four('lse', 'statisticsOf', 'x', 'vec4f'),
    four('delta', 'statisticsOf', 'y', 'vec4f'),
  ].join(' ');
}

/** The names are those of parts/key-gradients.ts. */
export const quadKeyGradientShader: (options: QuadKeyOptions) => Shader = variants(
  ({ D, isPart, adds, q, k, v, dOut, dK, dV }) =>
    [quadSlices(D).groups, isPart, adds, groupingKey([q, k, v, dOut, dK, dV], D)].join(' '),
  makeShader,
);
