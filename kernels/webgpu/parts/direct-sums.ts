/**
 * The tile of parts/sum-tile.ts for adapters that run threads on a CPU, as WGSL text: no staging
 * and no barriers, each thread reads the rows and columns of its own sums.
 *
 * SwiftShader runs four threads in the lanes of a vector. Any read at a place that is computed, of
 * workgroup memory as of an array, is then a dozen instructions or more for each component, a
 * multiply-add two, and a variable is stored with each assignment. So a thread owns as many as
 * 8 × 16 sums, reads four of the depth at a time, and adds them in one expression. Of the processor
 * time that staged tiles took it takes 0.4 for 256³ (16 × 8 sums a thread) and 0.15 for 8 × 1024 by
 * 1024 (4 × 4). Staged, with 16 × 16 sums and such expressions, 256³ took 0.6; so did this tile
 * where every read branched at the edges.
 *
 * Where threads can read from each other, the four of a quad share their columns, or their rows where
 * there are few: each reads a quarter of them, and a value of another costs a fifth of a read.
 */
import { across, down, type SumTile, type TileSide, type TileSides } from './tile-shape.ts';

const FOUR = [0, 1, 2, 3] as const;
const range = (count: number): readonly number[] => Array.from({ length: count }, (_, i) => i);

/** Statements that leave `sums` as those of the staged tile do. Sums are the same chains. */
export function directSums(tile: SumTile, { columns, rows, depth }: TileSides): string {
  const { rowsPerThread, groupsPerThread } = tile;
  const groups = range(groupsPerThread);
  const hasQuads = tile.hasQuads ?? false;
  const statements = [
    ...groups.flatMap((g) => [
      ...reads(columns, {
        name: `column${g}`,
        block: `(x + ${g * across(tile)}u)`,
        isShared: hasQuads && sharesColumns(tile),
      }),
      ...FOUR.map((k) => `let l${g}_${k} = ${four(columns, `column${g}`, k)};`),
    ]),
    ...range(Math.ceil(rowsPerThread / 4)).flatMap((b) => [
      ...reads(rows, {
        name: `row${b}`,
        block: `(y + ${b * down(tile)}u)`,
        lines: rowsPerThread,
        isShared: hasQuads && !sharesColumns(tile),
      }),
      ...FOUR.slice(0, rowsPerThread).flatMap((i) =>
        groups.map((g) => {
          const sum = `sums[${groupsPerThread * (4 * b + i) + g}]`;
          const factor = (k: number): string => one(rows, `row${b}`, i, k);
          const chain = (before: string, k: number): string =>
            `fma(l${g}_${k}, vec4<f32>(${factor(k)}), ${before})`;
          return `${sum} = ${FOUR.reduce(chain, sum)};`;
        }),
      ),
    ]),
  ];
  return `
  var sums = array<vec4<f32>, ${rowsPerThread * groupsPerThread}>();
  for (var start = 0u; start < ${depth}; start += 4u) {
    ${statements.join('\n    ')}
  }`;
}

/** The threads of a quad share columns where there are rows for each of them. */
const sharesColumns = (tile: SumTile): boolean => down(tile) % 4 === 0;

/**
 * Statements that declare a thread's place in the tile, x and y, so that quads share a side. On a CPU
 * the threads of a workgroup fill subgroups in their order, so four neighbors are a quad.
 */
export const quadPlace = (tile: SumTile): string => `
  let quadLane = at.lane % 4u;
  ${
    sharesColumns(tile)
      ? `let x = at.index / ${down(tile)}u;
  let y = at.index % ${down(tile)}u;`
      : `let x = at.index % ${across(tile)}u;
  let y = at.index / ${across(tile)}u;`
  }`;

interface Block {
  readonly name: string;
  readonly block: string;
  /** Lines of a side along the depth; 4 unless there is less than a block. */
  readonly lines?: number;
  /** Whether all threads of a quad read this block. */
  readonly isShared: boolean;
}

/** A block of 4 × 4 of a side, as four vectors along its `along`; fewer where it has fewer lines. */
function reads(side: TileSide, { name, block, lines = 4, isShared }: Block): readonly string[] {
  const count = side.along === 'depth' ? lines : 4;
  if (!isShared || count < 4) {
    return FOUR.slice(0, count).map(
      (i) => `let ${name}_${i} = ${side.load(`${i}u`, block, 'start')};`,
    );
  }
  return [
    `let ${name} = ${side.load('quadLane', block, 'start')};`,
    ...FOUR.map((i) => `let ${name}_${i} = quadBroadcast(${name}, ${i}u);`),
  ];
}

/** The four columns of a block at the k-th of four steps. */
const four = ({ along }: TileSide, name: string, k: number): string =>
  along === 'width' ? `${name}_${k}` : `vec4<f32>(${FOUR.map((i) => `${name}_${i}[${k}]`).join()})`;

/** The i-th row of a block at the k-th step. */
const one = ({ along }: TileSide, name: string, i: number, k: number): string =>
  along === 'width' ? `${name}_${k}[${i}]` : `${name}_${i}[${k}]`;
