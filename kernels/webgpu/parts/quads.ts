/**
 * The two products attention is made of where threads run on a CPU, as WGSL text: scores = A·Bᵀ and
 * out += W·B, for tiles as in parts/tile-product.ts.
 *
 * There a load costs as much as twenty multiply-adds of vectors, from workgroup memory as from any
 * other, and a value of a neighboring thread as one to four. So a thread meets 32 rows of B with each
 * of its rows of A: scores and weights stay in registers, nothing is staged, and each of the four
 * threads of a quad, which meet the same rows of B, loads a quarter of them for all. Sums are the
 * chains of parts/tile-product.ts, so the bits are the same. With 8 rows of A a thread, attention took
 * 0.7 to 0.9 of the time, its shaders twice as long to compile.
 */
import { groupsOf } from './heads.ts';
import { KEYS } from './tiles.ts';

/** Rows of a tile, those of one thread, and rows of B that are met at once. */
export const QUAD_ROWS = 64;
export const QUAD_ROWS_EACH = 4;
export const QUAD_COLUMNS = KEYS;
export const QUAD_THREADS = QUAD_ROWS / QUAD_ROWS_EACH;

/** Groups of four elements of a head's output that a thread can hold for each row. */
const GROUPS_MOST = 32;

const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, i) => i);
/** Groups of four of those rows of B. */
export const QUAD_GROUPS = numbers(QUAD_COLUMNS / 4);

/**
 * How the groups of a head's output are dealt to workgroups, each of which makes the scores. Heads of
 * neighboring sizes have one shader.
 */
export function quadSlices(D: number): { readonly slices: number; readonly groups: number } {
  const all = groupsOf(D);
  const slices = Math.ceil(all / GROUPS_MOST);
  return { slices, groups: 8 * Math.ceil(all / slices / 8) };
}

/** `let` lines every piece below counts on; firstGroup … endGroup are the groups of the output. */
export const quadLanes = (groups: number): string => `
  let index = at.index;
  let quadLane = at.lane % 4u;
  let firstGroup = group.z % p.slices * ${groups}u;
  let endGroup = min(firstGroup + ${groups}u, p.groups);`;

/** Runs `piece` for each row of a thread. */
export const forQuadRows = (piece: (i: number, row: string) => string): string =>
  numbers(QUAD_ROWS_EACH)
    .map((i) => piece(i, `(index + ${i * QUAD_THREADS}u)`))
    .join('\n');

/** Declares sums of a thread: one for each of its rows and groups of the output. */
export const quadSums = (name: string, groups: number): string =>
  `var ${name} = array<vec4f, ${QUAD_ROWS_EACH * groups}>();`;

/** A sum of row `i`, with `c` in scope, its group of the head. */
const sumAt = (name: string, i: number): string =>
  `${name}[${QUAD_ROWS_EACH}u * (c - firstGroup) + ${i}u]`;

/** Runs `piece` for each of a thread's sums, with `c` in scope. */
export const forQuadSums = (
  name: string,
  piece: (sum: string, row: string, i: number) => string,
): string => `
  for (var c = firstGroup; c < endGroup; c++) {
    ${forQuadRows((i, row) => piece(sumAt(name, i), row, i))}
  }`;

/** Declares scores of a thread's rows with {@link QUAD_COLUMNS} rows of B. */
export const quadScores = (name: string): string =>
  `var ${name} = array<vec4f, ${QUAD_ROWS_EACH * QUAD_GROUPS.length}>();`;

/** The scores of row `i` with the columns 4·`group` … . */
export const scoreAt = (name: string, i: number, group: number): string =>
  `${name}[${i * QUAD_GROUPS.length + group}]`;

/** Runs `piece` for each vector of scores of row `i`. */
export const forQuadScores = (
  name: string,
  i: number,
  piece: (score: string, group: number) => string,
): string => QUAD_GROUPS.map((group) => piece(scoreAt(name, i, group), group)).join('\n');

interface ProductOptions {
  /** Scores that the products are added to. */
  readonly into: string;
  /** Expression for group `c` of the head of row `row` of A; zero where there is none. */
  readonly a: (row: string) => string;
  /** The same for row `column` of B. */
  readonly b: (column: string) => string;
}

/**
 * into = A·Bᵀ, of scores that are 0. Only where control flow is uniform.
 *
 * A value swapped with a neighbor costs less than one broadcast. So a thread meets the columns of a
 * group in the order own, neighbor across, below, diagonal, and puts its scores in order at the end.
 */
export const quadProduct = ({ into, a, b }: ProductOptions): string => `
  for (var c = 0u; c < p.groups; c++) {
    ${forQuadRows((i, row) => `let a${i} = ${a(row)};`)}
    ${QUAD_GROUPS.map(
      (group) => `{
      let b0 = ${b(`${4 * group}u + quadLane`)};
      let b1 = quadSwapX(b0);
      let b2 = quadSwapY(b0);
      let b3 = quadSwapDiagonal(b0);
      let bx = vec4f(b0.x, b1.x, b2.x, b3.x);
      let by = vec4f(b0.y, b1.y, b2.y, b3.y);
      let bz = vec4f(b0.z, b1.z, b2.z, b3.z);
      let bw = vec4f(b0.w, b1.w, b2.w, b3.w);
      ${numbers(QUAD_ROWS_EACH)
        .map((i) => {
          const score = scoreAt(into, i, group);
          const chain = ['x', 'y', 'z', 'w'].reduce(
            (before, lane) => `fma(vec4f(a${i}.${lane}), b${lane}, ${before})`,
            score,
          );
          return `${score} = ${chain};`;
        })
        .join('\n      ')}
    }`,
    ).join('\n    ')}
  }
  {
    let isRight = (quadLane & 1u) != 0u;
    let isLower = (quadLane & 2u) != 0u;
    ${numbers(QUAD_ROWS_EACH)
      .map((i) =>
        forQuadScores(
          into,
          i,
          (score, g) => `let pairs${i}_${g} = select(${score}, ${score}.yxwz, isRight);
    ${score} = select(pairs${i}_${g}, pairs${i}_${g}.zwxy, isLower);`,
        ),
      )
      .join('\n    ')}
  }`;

interface AccumulateOptions {
  /** Sums of a thread that the products are added to. */
  readonly into: string;
  /** Scores that hold the weights. */
  readonly weights: string;
  readonly b: (column: string) => string;
  /** Expression that the sums of row `i` are multiplied by first. */
  readonly factor?: (i: number) => string;
}

/** into = factor·into + W·B. Only where control flow is uniform. */
export function quadAccumulate({ into, weights, b, factor }: AccumulateOptions): string {
  const eachRow = (piece: (i: number) => string): string =>
    numbers(QUAD_ROWS_EACH).map(piece).join('\n      ');
  const add = (i: number, group: number): string =>
    ['x', 'y', 'z', 'w'].reduce(
      (before, lane, j) => `fma(vec4f(${scoreAt(weights, i, group)}.${lane}), b${j}, ${before})`,
      `sum${i}`,
    );
  // The array is read and written at a computed place, which costs as much as loads do: once for all
  // groups of columns.
  return `
  for (var c = firstGroup; c < endGroup; c++) {
    ${eachRow((i) => `var sum${i} = ${sumAt(into, i)}${factor === undefined ? '' : ` * ${factor(i)}`};`)}
    ${QUAD_GROUPS.map(
      (group) => `{
      let own = ${b(`${4 * group}u + quadLane`)};
      ${numbers(4)
        .map((j) => `let b${j} = quadBroadcast(own, ${j}u);`)
        .join('\n      ')}
      ${eachRow((i) => `sum${i} = ${add(i, group)};`)}
    }`,
    ).join('\n    ')}
    ${eachRow((i) => `${sumAt(into, i)} = sum${i};`)}
  }`;
}
