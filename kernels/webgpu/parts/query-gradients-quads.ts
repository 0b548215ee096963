/**
 * The gradient of q where threads run on a CPU (parts/quads.ts): the rows, blocks and chains of
 * parts/query-gradients.ts, and so its bits, with scores and ∂s in registers.
 */
import { type Shader, shader } from '../shader.ts';
import { ROWS_IN_SLICE } from './attend.ts';
import { groupingKey, headReader, headWriter, placedReader, slicedReader } from './heads.ts';
import {
  forQuadRows,
  forQuadScores,
  forQuadSums,
  QUAD_COLUMNS,
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
import { type QueryGradientOptions, queryGradientBindings } from './query-gradients.ts';
import { rowWork } from './row-work.ts';
import { variants } from './variants.ts';

type QuadQueryOptions = Omit<QueryGradientOptions, 'shape'>;

function makeShader(options: QuadQueryOptions): Shader {
  const { D, q, k, v, dOut, dQ } = options;
  const { groups } = quadSlices(D);
  return shader({
    name: 'attention: gradient of q by quads',
    ...queryGradientBindings(options),
    threads: [QUAD_THREADS, 1, 1],
    subgroups: true,
    body: `
${headReader('q', q, D)}
${slicedReader('k', k, D)}
${slicedReader('v', v, D)}
${headReader('dOut', dOut, D)}
${headWriter('dQ', dQ, D)}
${rowWork(QUAD_ROWS)}

${ROWS_IN_SLICE}

var<workgroup> rowAt: array<u32, ${QUAD_ROWS}>;
var<workgroup> keyAt: array<u32, ${QUAD_COLUMNS}>;
var<workgroup> sights: array<vec2i, ${QUAD_ROWS}>;
// lse·log₂e and δ.
var<workgroup> statisticsOf: array<vec2f, ${QUAD_ROWS}>;
var<workgroup> found: Work;

${placedReader('query_at', 'q', { places: 'rowAt', first: 'p.firstHead', factor: 'p.scale' })}
${placedReader('key_of', 'k', { places: 'keyAt' })}
${placedReader('upstream_at', 'dOut', { places: 'rowAt', first: 'p.firstHead' })}
${placedReader('value_of', 'v', { places: 'keyAt' })}

fn main(at: Place, group: vec3<u32>) {
  ${quadLanes(groups)}
  if (index == 0u) { found = work_in_slice(find_work(at)); }
  let work = workgroupUniformLoad(&found);
  if (work.rows == 0u) { return; }
  for (var row = index; row < ${QUAD_ROWS}u; row += ${QUAD_THREADS}u) {
    var place = NONE;
    var sight = vec2i();
    var both = vec2f();
    if (row < work.rows) {
      place = row_in_slice(row_at(work, row));
      sight = sight_of(work, row);
      if (place != NONE) {
        both = vec2f(get_statistics(2u * place), get_statistics(2u * place + 1u));
      }
    }
    rowAt[row] = place;
    sights[row] = sight;
    statisticsOf[row] = both;
  }
  let keys = sight_of(work, work.rows - 1u).y;
  ${quadSums('o', groups)}
  for (var block = work.fromBlock; block < work.endBlock; block++) {
    workgroupBarrier();
    for (var i = index; i < ${QUAD_COLUMNS}u; i += ${QUAD_THREADS}u) {
      keyAt[i] = key_at(work, i32(block * ${QUAD_COLUMNS}u + i), keys);
    }
    workgroupBarrier();
    ${quadScores('s')}
    ${quadScores('g')}
    ${quadProduct({
      into: 's',
      a: (row) => `query_at(${row}, c)`,
      b: (column) => `key_of(${column}, c)`,
    })}
    if (p.hasUpstream != 0u) {
      ${quadProduct({
        into: 'g',
        a: (row) => `upstream_at(${row}, c)`,
        b: (column) => `value_of(${column}, c)`,
      })}
    }
    let first = vec4i(i32(block * ${QUAD_COLUMNS}u)) + vec4i(0, 1, 2, 3);
    ${forQuadRows(
      (i, row) => `{
      let sight = sights[${row}];
      let both = statisticsOf[${row}];
      ${forQuadScores(
        's',
        i,
        (score, g) => `{
        let key = first + vec4i(${4 * g});
        let seen = (key >= vec4i(sight.x)) & (key < vec4i(sight.y));
        let weights = exp2(${score} - vec4f(both.x)) * (${scoreAt('g', i, g)} - vec4f(both.y));
        ${score} = select(vec4f(), weights, seen);
      }`,
      )}
    }`,
    )}
    ${quadAccumulate({ into: 'o', weights: 's', b: (column) => `key_of(${column}, c)` })}
  }
  ${forQuadSums(
    'o',
    (sum, row) => `{
      let place = rowAt[${row}];
      if (place != NONE) { put_head_dQ(place - p.firstHead, c, ${sum} * p.headScale); }
    }`,
  )}
}`,
  });
}

/** The names are those of parts/query-gradients.ts. */
export const quadQueryGradientShader: (options: QuadQueryOptions) => Shader = variants(
  ({ D, q, k, v, dOut, dQ }) =>
    [quadSlices(D).groups, k.length, groupingKey([q, dOut, dQ, ...k, ...v], D)].join(' '),
  makeShader,
);
