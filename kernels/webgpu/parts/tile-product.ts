/**
 * WGSL of the two products attention is made of, over rows whose places are found at run time:
 * scores = A·Bᵀ with both staged in slices along the head, and out += W·B with the weights W staged
 * whole. Text to put into a `main`, so that accumulators stay in registers.
 *
 * A tile is `rows` × `columns`. Thread (rowLane, columnLane) owns the rows rowLane + i·rowLanes, of
 * the scores the four columns from 4·columnLane on, of the output every columnLanes-th group of four
 * elements. Sums run along the head, or along the columns, in ascending order in one chain of
 * multiply-adds each: an element has the same bits in every shape of tile.
 */

import { groupsOf } from './heads.ts';

export interface TileShape {
  /** Rows of A: those that stay. */
  readonly rows: number;
  /** Rows of B met at once, a multiple of 4. */
  readonly columns: number;
  readonly rowsPerThread: number;
  /** Groups of a head staged at once for the scores, an even number. */
  readonly width: number;
  /** Rows of B, dividing the columns, and steps of the output staged at once behind the weights. */
  readonly depth: number;
  readonly stepsAtOnce: number;
}

const rowLanes = ({ rows, rowsPerThread }: TileShape): number => rows / rowsPerThread;
export const columnLanes = ({ columns }: TileShape): number => columns / 4;
export const threadsOf = (shape: TileShape): number => rowLanes(shape) * columnLanes(shape);

/** How the groups of a head's output are dealt: `slices` workgroups of `steps` × columnLanes. */
export function outputSlices(shape: TileShape, D: number, most: number): OutputSlices {
  const all = Math.ceil(groupsOf(D) / columnLanes(shape));
  const slices = Math.max(1, Math.ceil(all / most));
  return { slices, steps: Math.ceil(all / slices) };
}

export interface OutputSlices {
  /** Workgroups that share the elements of a head; each makes the scores for itself. */
  readonly slices: number;
  /** Steps of columnLanes groups that a workgroup takes. */
  readonly steps: number;
}

/** Odd strides in memory, so that rows miss each other's banks. */
const stagedStride = ({ width }: TileShape): number => width + 1;
const weightStride = (shape: TileShape): number => columnLanes(shape) | 1;

/** Groups of four floats the array `tile` needs, for outputs of this many steps. */
export function tileGroups(shape: TileShape, steps: number): number {
  const { rows, columns, depth, stepsAtOnce } = shape;
  const behind = depth * columnLanes(shape) * Math.min(steps, stepsAtOnce);
  return Math.max((rows + columns) * stagedStride(shape), rows * weightStride(shape) + behind);
}

/** Where the group of weights of `row` and the columns from 4·`lane` on lies in `tile`. */
export const weightAt = (shape: TileShape, row: string, lane: string): string =>
  `${row} * ${weightStride(shape)}u + ${lane}`;

/** `let` lines every piece below counts on, beside `tile`, an array<vec4f, tileGroups>. */
export const lanes = (shape: TileShape): string => `
  let index = at.index;
  let rowLane = index / ${columnLanes(shape)}u;
  let columnLane = index % ${columnLanes(shape)}u;`;

/** Runs `piece` for each row of a thread. */
export function forRows(shape: TileShape, piece: (i: number, row: string) => string): string {
  return Array.from({ length: shape.rowsPerThread }, (_, i) =>
    piece(i, `(rowLane + ${i * rowLanes(shape)}u)`),
  ).join('\n');
}

/**
 * Runs `piece` for each group of a thread's outputs: `i` among its sums, with `c` in scope, the
 * group of the head, which may lie beyond it.
 */
export function forOutputs(
  shape: TileShape,
  steps: number,
  piece: (i: number, row: string) => string,
): string {
  const step = (i: number, row: string, s: number): string => `{
    let c = firstGroup + ${s * columnLanes(shape)}u + columnLane;
    ${piece(i * steps + s, row)}
  }`;
  return forRows(shape, (i, row) =>
    Array.from({ length: steps }, (_, s) => step(i, row, s)).join('\n  '),
  );
}

/** A group of the head, `c` in scope, or the last: what is read there beyond the head is dropped. */
const HEAD_GROUP = 'min(c, p.groups - 1u)';
/** Without branches, which adapters that run on a CPU pay for as for dozens of instructions. */
const headOrZero = (head: string): string => `select(vec4f(), ${head}, c < p.groups)`;

export interface ProductOptions {
  readonly shape: TileShape;
  /** An `array<vec4f, rowsPerThread>` that the products are added to. */
  readonly into: string;
  /** Expression for group `c` of the head of row `row` of A; zero where there is none. */
  readonly a: (row: string, c: string) => string;
  /** The same for row `column` of B. */
  readonly b: (column: string, c: string) => string;
}

/** into[i] += A·Bᵀ. Begins with a barrier; `tile` may be written again after one more. */
export function product({ shape, into, a, b }: ProductOptions): string {
  const quarter = columnLanes(shape);
  const { width } = shape;
  const stride = stagedStride(shape);
  const bAt = shape.rows * stride;
  const stage = (count: number, start: number, row: string, head: string): string => `
    for (var i = index; i < ${count * width}u; i += ${threadsOf(shape)}u) {
      let slot = i / ${width}u;
      let c = first + i % ${width}u;
      let row = ${row};
      tile[${start}u + slot * ${stride}u + i % ${width}u] = ${headOrZero(head)};
    }`;
  const column = (i: number): string =>
    `tile[${bAt + i * quarter * stride}u + columnLane * ${stride}u + c]`;
  // One expression: adapters that run on a CPU store a variable with each assignment.
  const chain = (sum: string): string =>
    ['x', 'y', 'z', 'w'].reduce(
      (before, lane) => `fma(vec4f(a.${lane}), b${lane}, ${before})`,
      sum,
    );
  // Columns 4·lane … 4·lane + 3 lie a quarter apart, so that lanes read neighboring rows.
  return `
  for (var first = 0u; first < p.groups; first += ${width}u) {
    workgroupBarrier();
    ${stage(shape.rows, 0, 'slot', a('row', HEAD_GROUP))}
    ${stage(shape.columns, bAt, `slot % ${quarter}u * 4u + slot / ${quarter}u`, b('row', HEAD_GROUP))}
    workgroupBarrier();
    for (var c = 0u; c < ${width}u; c++) {
      let b0 = ${column(0)};
      let b1 = ${column(1)};
      let b2 = ${column(2)};
      let b3 = ${column(3)};
      let bx = vec4f(b0.x, b1.x, b2.x, b3.x);
      let by = vec4f(b0.y, b1.y, b2.y, b3.y);
      let bz = vec4f(b0.z, b1.z, b2.z, b3.z);
      let bw = vec4f(b0.w, b1.w, b2.w, b3.w);
      ${forRows(
        shape,
        (i, row) => `{
        let a = tile[${row} * ${stride}u + c];
        ${into}[${i}] = ${chain(`${into}[${i}]`)};
      }`,
      )}
    }
  }`;
}

export interface AccumulateOptions {
  readonly shape: TileShape;
  /** Steps of the output; see {@link OutputSlices}. Their first group is `firstGroup`. */
  readonly steps: number;
  /** An `array<vec4f, rowsPerThread · steps>` that the products are added to. */
  readonly into: string;
  /** Expression for group `c` of the head of row `column` of B; zero where there is none. */
  readonly b: (column: string, c: string) => string;
}

/** into[i][step] += W·B. Begins with a barrier; the weights stay in `tile`. */
export function accumulate({ shape, steps, into, b }: AccumulateOptions): string {
  const lanesAcross = columnLanes(shape);
  const { columns, depth, stepsAtOnce } = shape;
  const bAt = shape.rows * weightStride(shape);
  const chain = (sum: string, s: number): string =>
    ['x', 'y', 'z', 'w'].reduce(
      (before, lane, i) => `fma(vec4f(w.${lane}), b${s}_${i}, ${before})`,
      sum,
    );
  const take = (first: number): string => {
    const count = Math.min(stepsAtOnce, steps - first);
    const stride = lanesAcross * count;
    const staged = (row: number, s: number): string =>
      `tile[${bAt + row * stride + s * lanesAcross}u + j * ${4 * stride}u + columnLane]`;
    const ofSteps = (piece: (s: number) => string): string =>
      Array.from({ length: count }, (_, s) => piece(s)).join('\n      ');
    const sumAt = (i: number, s: number): string => `${into}[${i * steps + first + s}]`;
    return `
  for (var begin = 0u; begin < ${columns}u; begin += ${depth}u) {
    workgroupBarrier();
    for (var i = index; i < ${depth * stride}u; i += ${threadsOf(shape)}u) {
      let column = begin + i / ${stride}u;
      let c = firstGroup + ${first * lanesAcross}u + i % ${stride}u;
      tile[${bAt}u + i] = ${headOrZero(b('column', HEAD_GROUP))};
    }
    workgroupBarrier();
    for (var j = 0u; j < ${depth / 4}u; j++) {
      ${ofSteps((s) => [0, 1, 2, 3].map((i) => `let b${s}_${i} = ${staged(i, s)};`).join('\n      '))}
      ${forRows(
        shape,
        (i, row) => `{
        let w = tile[${row} * ${weightStride(shape)}u + begin / 4u + j];
        ${ofSteps((s) => `${sumAt(i, s)} = ${chain(sumAt(i, s), s)};`)}
      }`,
      )}
    }
  }`;
  };
  const firsts = Array.from({ length: Math.ceil(steps / stepsAtOnce) }, (_, i) => i * stepsAtOnce);
  return firsts.map(take).join('\n');
}
