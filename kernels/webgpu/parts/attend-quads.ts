/**
 * The forward of attention where threads run on a CPU (parts/quads.ts): the rows, blocks and chains of
 * parts/attend.ts, and so its bits, with a row's softmax in the registers of its thread.
 */
import { type Shader, shader } from '../shader.ts';
import { type AttendOptions, attendBindings, ROWS_IN_SLICE, UNSEEN } from './attend.ts';
import { groupingKey, headReader, headWriter, placedReader, slicedReader } from './heads.ts';
import {
  forQuadRows,
  forQuadSums,
  QUAD_COLUMNS,
  QUAD_GROUPS,
  QUAD_ROWS,
  QUAD_ROWS_EACH,
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

type QuadAttendOptions = Omit<AttendOptions, 'shape'>;

/** Scores to weights for row `i`, and its sum and factor. */
function weigh(i: number, row: string): string {
  const scores = QUAD_GROUPS.map((group) => scoreAt('s', i, group));
  const tops = scores.reduce(
    (before, score, g) => `max(${before}, select(vec4f(${UNSEEN}), ${score}, seen${g}))`,
    `vec4f(${UNSEEN})`,
  );
  const total = scores.reduce(
    (before, _, g) => `${before} + w${g}.x + w${g}.y + w${g}.z + w${g}.w`,
    '0.0',
  );
  return `
  var factor${i} = 1.0;
  {
    let sight = sights[${row}];
    ${scores.map((_, g) => `let seen${g} = (key${g} >= vec4i(sight.x)) & (key${g} < vec4i(sight.y));`).join('\n    ')}
    let tops = ${tops};
    let before = top[${i}];
    let next = max(before, max(max(tops.x, tops.y), max(tops.z, tops.w)));
    ${scores.map((score, g) => `let w${g} = select(vec4f(), exp2(${score} - vec4f(next)), seen${g});`).join('\n    ')}
    factor${i} = select(exp2(before - next), 1.0, before == next);
    sum[${i}] = fma(sum[${i}], factor${i}, ${total});
    top[${i}] = next;
    ${scores.map((score, g) => `${score} = w${g};`).join('\n    ')}
  }`;
}

function makeShader(options: QuadAttendOptions): Shader {
  const { source, D, q, k, v, out } = options;
  const { groups } = quadSlices(D);
  return shader({
    name: `${source.name} by quads`,
    ...attendBindings(options),
    threads: [QUAD_THREADS, 1, 1],
    subgroups: true,
    body: `
${headReader('q', q, D)}
${slicedReader('k', k, D)}
${slicedReader('v', v, D)}
${headWriter('out', out, D)}
${source.functions}

${ROWS_IN_SLICE}

var<workgroup> rowAt: array<u32, ${QUAD_ROWS}>;
var<workgroup> sights: array<vec2i, ${QUAD_ROWS}>;
var<workgroup> keyAt: array<u32, ${QUAD_COLUMNS}>;
var<workgroup> found: Work;

${placedReader('query_at', 'q', { places: 'rowAt', first: 'p.firstHead', factor: 'p.scale' })}
${placedReader('key_of', 'k', { places: 'keyAt' })}
${placedReader('value_of', 'v', { places: 'keyAt' })}

fn main(at: Place, group: vec3<u32>) {
  ${quadLanes(groups)}
  if (index == 0u) { found = work_in_slice(find_work(at)); }
  let work = workgroupUniformLoad(&found);
  if (work.rows == 0u) { return; }
  for (var row = index; row < ${QUAD_ROWS}u; row += ${QUAD_THREADS}u) {
    var place = NONE;
    var sight = vec2i();
    if (row < work.rows) {
      place = row_in_slice(row_at(work, row));
      sight = sight_of(work, row);
    }
    rowAt[row] = place;
    sights[row] = sight;
  }
  ${source.cursor}
  var top = array<f32, ${QUAD_ROWS_EACH}>(${Array(QUAD_ROWS_EACH).fill(UNSEEN).join(', ')});
  var sum = array<f32, ${QUAD_ROWS_EACH}>();
  ${quadSums('o', groups)}
  for (var block = work.fromBlock; block < work.endBlock; block++) {
    workgroupBarrier();
    for (var i = index; i < ${QUAD_COLUMNS}u; i += ${QUAD_THREADS}u) {
      let position = i32(block * ${QUAD_COLUMNS}u + i);
      var key = NONE;
      ${source.findKey}
      keyAt[i] = key;
    }
    workgroupBarrier();
    ${quadScores('s')}
    ${quadProduct({ into: 's', a: (row) => `query_at(${row}, c)`, b: (column) => `key_of(${column}, c)` })}
    let key0 = vec4i(i32(block * ${QUAD_COLUMNS}u)) + vec4i(0, 1, 2, 3);
    ${QUAD_GROUPS.slice(1)
      .map((g) => `let key${g} = key0 + vec4i(${4 * g});`)
      .join('\n    ')}
    ${forQuadRows(weigh)}
    ${quadAccumulate({ into: 'o', weights: 's', b: (column) => `value_of(${column}, c)`, factor: (i) => `factor${i}` })}
  }
  ${forQuadRows(
    (i, row) => `{
    let isEmpty = sum[${i}] == 0.0;
    let place = rowAt[${row}];
    if (firstGroup == 0u && place != NONE) {
      let lse = fma(top[${i}], ${Math.LN2}, log(sum[${i}]));
      put_lse(place % p.H * p.rowsPerHead + place / p.H, select(bitcast<u32>(lse), 0xff800000u, isEmpty));
    }
    sum[${i}] = select(1.0 / sum[${i}], 0.0, isEmpty);
  }`,
  )}
  ${forQuadSums(
    'o',
    (value, row, i) => `{
      let place = rowAt[${row}];
      if (place != NONE) { put_head_out(place - p.firstHead, c, ${value} * sum[${i}]); }
    }`,
  )}
}`,
  });
}

/** The names are those of parts/attend.ts. */
export const quadAttendShader: (options: QuadAttendOptions) => Shader = variants(
  ({ source, D, q, k, v, out }) =>
    [source.name, quadSlices(D).groups, k.length, groupingKey([q, out, ...k, ...v], D)].join(' '),
  makeShader,
);
