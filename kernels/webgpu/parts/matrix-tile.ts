/**
 * The tile of parts/sum-tile.ts on matrix units, as WGSL text: 64 × 64 sums by four subgroups, of
 * float16 factors and with float32 sums.
 *
 * Both sides are staged as float16, which they are stored as, 16 of the depth at once, rows padded
 * to miss each other's banks. A subgroup owns 16 rows. The order within a unit is the device's, the
 * same for every row; so bits differ from those of the other tiles, and where units are used they
 * are used for any number of rows.
 */
import type { MatrixUnit } from '../kernel.ts';
import type { SumTile, TileSide, TileSides } from './tile-shape.ts';

/** Subgroups that work; where they are narrower than 32 threads there are more, which wait. */
const SUBGROUPS = 4;
/** Halves from one row or column of staged factors to the next. */
const STRIDE = 24;

export const matrixMemory = ({ rows, columns }: SumTile): string => `
var<workgroup> halves: array<f16, ${(rows + columns) * STRIDE}>;
var<workgroup> results: array<f32, ${rows * columns}>;`;

interface MatrixTile extends SumTile {
  readonly unit: MatrixUnit;
}

/** Statements that leave `sums` as those of the tile without units do. */
export function matrixSums(
  tile: MatrixTile,
  { columns, rows, depth }: TileSides,
  threads: number,
  sums: readonly { readonly row: string; readonly column: string }[],
): string {
  const { size } = tile.unit;
  const strips = tile.rows / size / SUBGROUPS;
  const across = tile.columns / size;
  const rowsAt = tile.columns * STRIDE;
  const each = (piece: (strip: number, column: number) => string): string =>
    Array.from({ length: strips * across }, (_, i) =>
      piece(Math.floor(i / across), i % across),
    ).join('\n      ');
  const acc = (strip: number, column: number): string => `acc${strip}_${column}`;
  const rowOf = (strip: number): string => `${size}u * (at.subgroup * ${strips}u + ${strip}u)`;
  const steps = Array.from({ length: tile.depth / size }, (_, step) => step * size);
  const multiply = (k: number): string => `{
        ${Array.from({ length: strips }, (_, s) => `let left${s} = subgroupMatrixLoad<subgroup_matrix_left<f16, ${size}, ${size}>>(&halves, ${rowsAt + k}u + ${STRIDE}u * ${rowOf(s)}, false, ${STRIDE}u);`).join('\n        ')}
        ${Array.from({ length: across }, (_, c) => `let right${c} = subgroupMatrixLoad<subgroup_matrix_right<f16, ${size}, ${size}>>(&halves, ${STRIDE * size * c + k}u, true, ${STRIDE}u);`).join('\n        ')}
        ${each((s, c) => `${acc(s, c)} = subgroupMatrixMultiplyAccumulate(left${s}, right${c}, ${acc(s, c)});`)}
      }`;
  return `
  var sums = array<vec4<f32>, ${sums.length}>();
  ${each((s, c) => `var ${acc(s, c)}: subgroup_matrix_result<f32, ${size}, ${size}>;`)}
  // Inside a loop Dawn leaves a variable without initializer as it was.
  ${each((s, c) => `${acc(s, c)} = subgroup_matrix_result<f32, ${size}, ${size}>();`)}
  for (var start = 0u; start < ${depth}; start += ${tile.depth}u) {
    workgroupBarrier();
    ${stage(columns, tile.columns, tile.depth, 0, threads)}
    ${stage(rows, tile.rows, tile.depth, rowsAt, threads)}
    workgroupBarrier();
    if (at.subgroup < ${SUBGROUPS}u) {
      ${steps.map(multiply).join('\n      ')}
    }
  }
  if (at.subgroup < ${SUBGROUPS}u) {
    ${each((s, c) => `subgroupMatrixStore(&results, ${tile.columns}u * ${rowOf(s)} + ${size * c}u, ${acc(s, c)}, false, ${tile.columns}u);`)}
  }
  workgroupBarrier();
  ${sums
    .map(
      ({ row, column }, i) => `{
    let place = ${row} * ${tile.columns}u + ${column};
    sums[${i}] = vec4<f32>(results[place], results[place + 1u], results[place + 2u], results[place + 3u]);
  }`,
    )
    .join('\n  ')}
  workgroupBarrier();`;
}

/** Blocks of 4 × 4 into rows of the depth. */
function stage(
  { load, along }: TileSide,
  extent: number,
  depth: number,
  first: number,
  threads: number,
): string {
  const quarters = depth / 4;
  const put = (i: number, j: number): string => {
    const [row, k] = along === 'depth' ? [i, j] : [j, i];
    return `halves[place + ${row * STRIDE + k}u] = f16(value${i}[${j}]);`;
  };
  const four = [0, 1, 2, 3];
  return `for (var item = at.index; item < ${(extent / 4) * quarters}u; item += ${threads}u) {
      let block = item / ${quarters}u;
      let k = start + 4u * (item % ${quarters}u);
      let place = ${first}u + ${4 * STRIDE}u * block + 4u * (item % ${quarters}u);
      ${four.map((i) => `let value${i} = ${load(`${i}u`, 'block', 'k')};`).join('\n      ')}
      ${four.flatMap((i) => four.map((j) => put(i, j))).join('\n      ')}
    }`;
}
