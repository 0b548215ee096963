/**
 * The register tile of products, as WGSL text: rows × columns sums of products over any depth.
 *
 * For GPUs both sides are staged in workgroup memory with the depth outside; for adapters that run
 * on a CPU see parts/direct-sums.ts. Thread (x, y) owns groups of
 * four columns, x and where it has two the one `across` further, and one row, or four rows 4y…4y+3,
 * and where it has more the four `4·down` further, and so on. A step of the depth is then, in the widest tile, four
 * vector reads for 16 vector fused multiply-adds. Groups lie turned by the quarter of the depth they
 * belong to: neighboring threads store to different banks.
 *
 * A sum is one chain of fused multiply-adds along the depth, in order, from 0: its bits depend
 * neither on the place in the tile nor on the tile. So a tile may be chosen by the number of rows.
 */

import { directSums, quadPlace } from './direct-sums.ts';
import { matrixMemory, matrixSums } from './matrix-tile.ts';
import {
  across,
  down,
  type SumTile,
  type TileSide,
  type TileSides,
  tileThreads,
} from './tile-shape.ts';

const FOUR = [0, 1, 2, 3] as const;

/**
 * Declares `staging`, an array<vec4<f32>> of at least this many groups, if any. It is free for other
 * use outside of {@link tileSums}.
 */
export function tileMemory(tile: SumTile, groups = 0): string {
  if (tile.unit !== undefined) {
    const free = groups === 0 ? '' : `\nvar<workgroup> staging: array<vec4<f32>, ${groups}>;`;
    return matrixMemory(tile) + free;
  }
  const staged = Math.max((tile.depth * (tile.columns + tile.rows)) / 4, groups);
  return staged === 0 ? '' : `\nvar<workgroup> staging: array<vec4<f32>, ${staged}>;`;
}

/** The device features that a shader with this tile requires. */
export const tileFeatures = ({
  unit,
  hasQuads,
}: SumTile): { readonly matrices?: boolean; readonly subgroups?: boolean } =>
  unit === undefined ? (hasQuads ? { subgroups: true } : {}) : { matrices: true };

/** Statements that declare a thread's place in the tile, x and y. */
export const tilePlace = (tile: SumTile): string =>
  tile.hasQuads
    ? quadPlace(tile)
    : `
  let x = at.index % ${across(tile)}u;
  let y = at.index / ${across(tile)}u;`;

/** One of a thread's sums: four neighboring columns of a row, both counted in the tile. */
export interface TileSum {
  readonly row: string;
  readonly column: string;
  /** A vec4<f32>. */
  readonly value: string;
}

/** The sums of a thread. With `only`, those of some of its groups of columns. */
export function sumsOf(tile: SumTile, only?: readonly number[]): readonly TileSum[] {
  const { rowsPerThread, groupsPerThread } = tile;
  const row = (r: number): string => {
    if (rowsPerThread === 1) return 'y';
    return `(4u * y + ${4 * down(tile) * Math.floor(r / 4) + (r % 4)}u)`;
  };
  const groups = only ?? FOUR.slice(0, groupsPerThread);
  return Array.from({ length: rowsPerThread }, (_, r) =>
    groups.map((g) => ({
      row: row(r),
      column: `(4u * x + ${4 * across(tile) * g}u)`,
      value: `sums[${groupsPerThread * r + g}]`,
    })),
  ).flat();
}

interface StagedSide extends TileSide {
  readonly name: string;
  /** Groups of four columns or rows, and where in `staging` they begin. */
  readonly groups: number;
  readonly first: number;
}

/**
 * Statements that leave `sums`, an array<vec4<f32>, …>, for {@link sumsOf}. The statements of
 * {@link tilePlace} come before. All threads of the workgroup take part.
 */
export function tileSums(tile: SumTile, { columns, rows, depth }: TileSides): string {
  const { unit } = tile;
  if (unit !== undefined) {
    return matrixSums({ ...tile, unit }, { columns, rows, depth }, tileThreads(tile), sumsOf(tile));
  }
  if (tile.depth === 0) return directSums(tile, { columns, rows, depth });
  const wide = tile.columns / 4;
  const high = tile.rows / 4;
  const left: StagedSide = { ...columns, name: 'l', groups: wide, first: 0 };
  const right: StagedSide = { ...rows, name: 'r', groups: high, first: tile.depth * wide };
  // The zeros are spelled out: inside a loop Dawn leaves a variable without initializer as it was.
  // The depth is met up to a multiple of four, whatever is staged at once: every tile adds the same.
  return `
  var sums = array<vec4<f32>, ${tile.rowsPerThread * tile.groupsPerThread}>();
  for (var start = 0u; start < ${depth}; start += ${tile.depth}u) {
    ${loads(tile, left)}
    ${loads(tile, right)}
    workgroupBarrier();
    ${stores(tile, left)}
    ${stores(tile, right)}
    workgroupBarrier();
    let quarters = min(${tile.depth / 4}u, (${depth} - start + 3u) / 4u);
    for (var quarter = 0u; quarter < quarters; quarter++) {
      ${places(tile, left, right)}
      for (var i = 0u; i < 4u; i++) {
        let step = 4u * quarter + i;
        ${adds(tile, left, right)}
      }
    }
  }
  workgroupBarrier();`;
}

/** Turns of the groups from one quarter of the depth to the next. */
const turned = ({ depth }: SumTile, { groups }: StagedSide, block: string, q: string): string =>
  `((${block} + ${32 / depth}u * ${q}) & ${groups - 1}u)`;

/** Blocks of 4 × 4 of a side; thread i stages the blocks i, i + threads, … . */
const blocksOf = ({ depth }: SumTile, { groups }: StagedSide): number => (groups * depth) / 4;

/** Up to this many blocks a thread are fetched before the barrier; more, in a loop behind it. */
const FETCHED_MOST = 2;

const fetches = (tile: SumTile, side: StagedSide): number =>
  Math.ceil(blocksOf(tile, side) / tileThreads(tile));

/** The n-th block of a thread, and the quarter of the depth it belongs to. */
function blockOf(tile: SumTile, item: string): { block: string; quarter: string } {
  const quarters = tile.depth / 4;
  return { block: `(${item} / ${quarters}u)`, quarter: `(${item} % ${quarters}u)` };
}

const nth = (tile: SumTile, n: number): string =>
  n === 0 ? 'at.index' : `(at.index + ${n * tileThreads(tile)}u)`;

const fetched = (tile: SumTile, side: StagedSide, item: string): readonly string[] => {
  const { block, quarter } = blockOf(tile, item);
  return FOUR.map((i) => side.load(`${i}u`, block, `(start + 4u * ${quarter})`));
};

function loads(tile: SumTile, side: StagedSide): string {
  const count = fetches(tile, side);
  if (count > FETCHED_MOST) return '';
  return Array.from({ length: count }, (_, n) => {
    const values = fetched(tile, side, nth(tile, n));
    const name = (i: number): string => `${side.name}${n}_${i}`;
    if ((n + 1) * tileThreads(tile) <= blocksOf(tile, side)) {
      return values.map((value, i) => `let ${name(i)} = ${value};`).join('\n    ');
    }
    return `${FOUR.map((i) => `var ${name(i)} = vec4<f32>();`).join(' ')}
    if (${nth(tile, n)} < ${blocksOf(tile, side)}u) {
      ${values.map((value, i) => `${name(i)} = ${value};`).join('\n      ')}
    }`;
  }).join('\n    ');
}

function stores(tile: SumTile, side: StagedSide): string {
  const count = fetches(tile, side);
  if (count > FETCHED_MOST) {
    return `
    for (var item = at.index; item < ${blocksOf(tile, side)}u; item += ${tileThreads(tile)}u) {
      ${store(tile, side, 'item', fetched(tile, side, 'item'))}
    }`;
  }
  return Array.from({ length: count }, (_, n) => {
    const isWhole = (n + 1) * tileThreads(tile) <= blocksOf(tile, side);
    const values = FOUR.map((i) => `${side.name}${n}_${i}`);
    return `${isWhole ? '' : `if (${nth(tile, n)} < ${blocksOf(tile, side)}u) `}{
      ${store(tile, side, nth(tile, n), values)}
    }`;
  }).join('\n    ');
}

function store(tile: SumTile, side: StagedSide, item: string, four: readonly string[]): string {
  const { block, quarter } = blockOf(tile, item);
  const values = `mat4x4<f32>(${four.join(', ')})`;
  return `let place = ${4 * side.groups}u * ${quarter} + ${turned(tile, side, block, quarter)};
      let values = ${side.along === 'depth' ? `transpose(${values})` : values};
      ${FOUR.map((i) => `staging[place + ${side.first + side.groups * i}u] = values[${i}];`).join('\n      ')}`;
}

/** Where the groups that a thread reads lie, in a quarter of the depth. */
function places(tile: SumTile, left: StagedSide, right: StagedSide): string {
  const x = (g: number): string => (g === 0 ? 'x' : `(x + ${g * across(tile)}u)`);
  const y = (g: number): string => (g === 0 ? 'y' : `(y + ${g * down(tile)}u)`);
  const columns = FOUR.slice(0, tile.groupsPerThread).map(
    (g) => `let x${g} = ${turned(tile, left, x(g), 'quarter')};`,
  );
  if (tile.rowsPerThread === 1) {
    return [...columns, `let y0 = ${turned(tile, right, '(y / 4u)', 'quarter')};`].join('\n      ');
  }
  const rows = FOUR.slice(0, tile.rowsPerThread / 4).map(
    (g) => `let y${g} = ${turned(tile, right, y(g), 'quarter')};`,
  );
  return [...columns, ...rows].join('\n      ');
}

function adds(tile: SumTile, left: StagedSide, right: StagedSide): string {
  const { rowsPerThread, groupsPerThread } = tile;
  const groups = FOUR.slice(0, groupsPerThread);
  const staged = (side: StagedSide, place: string): string =>
    `staging[${side.first}u + ${side.groups}u * step + ${place}]`;
  const add = (r: number, row: string): readonly string[] =>
    groups.map((g) => {
      const sum = `sums[${groupsPerThread * r + g}]`;
      return `${sum} = fma(l${g}, vec4<f32>(${row}), ${sum});`;
    });
  const columns = groups.map((g) => `let l${g} = ${staged(left, `x${g}`)};`);
  if (rowsPerThread === 1) {
    const row = `let r0 = ${staged(right, 'y0')}[y % 4u];`;
    return [...columns, row, ...add(0, 'r0')].join('\n        ');
  }
  const halves = FOUR.slice(0, rowsPerThread / 4);
  const rows = halves.map((g) => `let r${g} = ${staged(right, `y${g}`)};`);
  const all = halves.flatMap((g) => FOUR.flatMap((i) => add(4 * g + i, `r${g}[${i}]`)));
  return [...columns, ...rows, ...all].join('\n        ');
}
