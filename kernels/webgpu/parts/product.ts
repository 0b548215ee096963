/**
 * Matrix products in any storage order, [rows, columns] = Σ over the depth, in the tiles of
 * parts/sum-tile.ts.
 *
 * A workgroup owns from 1 to 64 × 64 results, by how many rows there are. A sum runs over the
 * depth in order, so its bits depend on the depth and on how the depth is cut into slices, never on
 * the number of rows. Arrays beyond the binding limit are bound in slices of their outer axis.
 */
import type { GpuArray, KernelCall, Pass } from '../kernel.ts';
import { type ArrayKind, type Shader, shader } from '../shader.ts';
import { foldGroups } from './fold-groups.ts';
import { edgedLoad } from './row-access.ts';
import { sumsOf, tileFeatures, tileMemory, tilePlace, tileSums } from './sum-tile.ts';
import { type SumTile, type TileSide, tileThreads } from './tile-shape.ts';
import { tileFor, tileKey } from './tiles.ts';
import { variants } from './variants.ts';

/** Slices are cut at multiples of this many rows: of any tile, and of what bindings align to. */
const SLICE_ROWS = 64;

/** A row-major matrix of which the depth is the inner axis, or else the outer one. */
interface Factor {
  readonly array: GpuArray;
  readonly isDepthInner: boolean;
}

export interface Product {
  readonly name: string;
  readonly rows: number;
  readonly columns: number;
  readonly depth: number;
  /** [rows, depth] or [depth, rows]. */
  readonly left: Factor;
  /** [columns, depth] or [depth, columns]. */
  readonly right: Factor;
  /** [rows, columns]. */
  readonly result: GpuArray;
  readonly resultKind: ArrayKind & ('stored' | 'f32');
  /** [columns], added at the end. */
  readonly bias?: GpuArray | undefined;
  /** First and last of the depth, where only a part of it is summed. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

interface Variant {
  readonly tile: SumTile;
  readonly name: string;
  readonly isLeftDepthInner: boolean;
  readonly isRightDepthInner: boolean;
  readonly resultKind: 'stored' | 'f32';
  readonly isVector: boolean;
  readonly hasBias: boolean;
  readonly adds: boolean;
}

interface SideForm {
  readonly isDepthInner: boolean;
  readonly isVector: boolean;
  readonly extent: 'rows' | 'columns';
}

/** The passes of a product; the result is overwritten. */
export function product(call: KernelCall, wanted: Product): readonly Pass[] {
  const { rows, columns, left, right, result, bias } = wanted;
  const { from = 0, to = wanted.depth } = wanted;
  const { limits } = call;
  const outer = (array: GpuArray, inner: number): number => {
    const most = Math.floor(limits.bindingBytes / 4 / Math.max(1, inner));
    if (array.length * 4 <= limits.bindingBytes || most < SLICE_ROWS)
      return Math.max(most, array.length);
    return most - (most % SLICE_ROWS);
  };
  const leftStep = outer(left.array, left.isDepthInner ? wanted.depth : rows);
  const rightStep = outer(right.array, right.isDepthInner ? wanted.depth : columns);
  const rowStep = Math.min(outer(result, columns), left.isDepthInner ? leftStep : Infinity);
  const columnStep = right.isDepthInner ? rightStep : Infinity;
  const depthStep = Math.min(
    left.isDepthInner ? Infinity : leftStep,
    right.isDepthInner ? Infinity : rightStep,
  );
  const tile = tileFor(rows, call);
  const passes: Pass[] = [];
  const depths = ranges(from, to, depthStep);
  for (const [firstRow, endRow] of ranges(0, rows, rowStep)) {
    for (const [firstColumn, endColumn] of ranges(0, columns, columnStep)) {
      for (const [i, [firstDepth, endDepth]] of depths.entries()) {
        const isLast = i === depths.length - 1;
        const a = part(left, rows, wanted.depth, [firstRow, endRow], [firstDepth, endDepth]);
        const b = part(
          right,
          columns,
          wanted.depth,
          [firstColumn, endColumn],
          [firstDepth, endDepth],
        );
        const y = result.slice(firstRow * columns, endRow * columns);
        // Vectors everywhere or nowhere: shapes that fit them in part are rare.
        const isVector = columns % 4 === 0 && y.isAligned && a.fitsVectors && b.fitsVectors;
        const withBias = isLast ? bias?.slice(firstColumn, endColumn) : undefined;
        const made = productShader({
          tile,
          name: wanted.name,
          isLeftDepthInner: left.isDepthInner,
          isRightDepthInner: right.isDepthInner,
          resultKind: wanted.resultKind,
          isVector,
          hasBias: withBias !== undefined,
          adds: i > 0,
        });
        const acrossTiles = Math.ceil((endColumn - firstColumn) / tile.columns);
        const tiles = acrossTiles * Math.ceil((endRow - firstRow) / tile.rows);
        const { workgroups, across } = foldGroups(tiles, limits);
        passes.push({
          shader: made,
          arrays: {
            left: a.array,
            right: b.array,
            result: y,
            ...(withBias === undefined ? {} : { bias: withBias }),
          },
          numbers: {
            rows: endRow - firstRow,
            columns: endColumn - firstColumn,
            depth: endDepth - firstDepth,
            leftWidth: a.width,
            leftFirst: a.first,
            rightWidth: b.width,
            rightFirst: b.first,
            resultWidth: columns,
            resultFirst: firstColumn,
            acrossTiles,
            across,
          },
          workgroups,
        });
      }
    }
  }
  return passes;
}

/** A factor bound from the first outer index on; where in a row of it the inner ones begin. */
function part(
  { array, isDepthInner }: Factor,
  extent: number,
  depth: number,
  [first, end]: readonly [number, number],
  [firstDepth, endDepth]: readonly [number, number],
): { array: GpuArray; width: number; first: number; fitsVectors: boolean } {
  const width = isDepthInner ? depth : extent;
  const [start, stop, inner] = isDepthInner
    ? [first, end, firstDepth]
    : [firstDepth, endDepth, first];
  const bound = array.slice(start * width, stop * width);
  const fitsVectors = width % 4 === 0 && inner % 4 === 0 && bound.isAligned;
  return { array: bound, width, first: inner, fitsVectors };
}

function ranges(from: number, to: number, step: number): readonly (readonly [number, number])[] {
  if (to - from <= step) return [[from, to]];
  return Array.from({ length: Math.ceil((to - from) / step) }, (_, i) => [
    from + i * step,
    Math.min(to, from + (i + 1) * step),
  ]);
}

const productShader = variants(
  ({ tile, ...wanted }: Variant) => [tileKey(tile), ...Object.values(wanted)].join(),
  makeShader,
);

function makeShader(variant: Variant): Shader {
  const { tile, name, resultKind, isVector, hasBias, adds } = variant;
  const left: SideForm = { isDepthInner: variant.isLeftDepthInner, isVector, extent: 'rows' };
  const right: SideForm = { isDepthInner: variant.isRightDepthInner, isVector, extent: 'columns' };
  const vec4 = isVector ? (' vec4' as const) : ('' as const);
  return shader({
    name,
    arrays: {
      left: `read stored${vec4}`,
      right: `read stored${vec4}`,
      ...(hasBias ? { bias: 'read stored' as const } : {}),
      result: `write ${resultKind}${vec4}`,
    },
    numbers: {
      rows: 'u32',
      columns: 'u32',
      depth: 'u32',
      leftWidth: 'u32',
      leftFirst: 'u32',
      rightWidth: 'u32',
      rightFirst: 'u32',
      resultWidth: 'u32',
      resultFirst: 'u32',
      acrossTiles: 'u32',
      across: 'u32',
    },
    threads: [tileThreads(tile), 1, 1],
    ...tileFeatures(tile),
    body: `${tileMemory(tile)}
${loader('left', left)}
${loader('right', right)}
${storer(isVector, hasBias, adds)}
fn main(at: Place, group: vec3<u32>) {
  let tile = group.y * p.across + group.x;
  let row = ${tile.rows}u * (tile / p.acrossTiles);
  let column = ${tile.columns}u * (tile % p.acrossTiles);
  ${tilePlace(tile)}
  ${tileSums(tile, {
    columns: side('right', right, 'column'),
    rows: side('left', left, 'row'),
    depth: 'p.depth',
  })}
  ${sumsOf(tile)
    .map((sum) => `store(row + ${sum.row}, column + ${sum.column}, ${sum.value});`)
    .join('\n  ')}
}`,
  });
}

/** The loads of a tile from a factor, from its row or column `base` on. */
function side(name: string, { isDepthInner }: SideForm, base: string): TileSide {
  return isDepthInner
    ? {
        along: 'depth',
        load: (i, block, k) => `load_${name}(${base} + 4u * ${block} + ${i}, ${k})`,
      }
    : {
        along: 'width',
        load: (i, block, k) => `load_${name}(${k} + ${i}, ${base} + 4u * ${block})`,
      };
}

/** `load_<name>(outer, inner)`: four neighbors along the inner axis, 0 beyond the edges. */
const loader = (name: string, { isDepthInner, isVector, extent }: SideForm): string =>
  edgedLoad(name, {
    arguments: ['outer', 'inner'],
    ends: isDepthInner ? [`p.${extent}`, 'p.depth'] : ['p.depth', `p.${extent}`],
    place: `outer * p.${name}Width + p.${name}First + inner`,
    isVector,
  });

/** `store(row, column, values)`: four neighbors of the result, none beyond its edges. */
function storer(isVector: boolean, hasBias: boolean, adds: boolean): string {
  const lanes = ['x', 'y', 'z', 'w'].map((lane, i) => ({ lane, i }));
  const biased = (lane: string, i: number): string =>
    `values.${lane}${hasBias ? ` + get_bias(column + ${i}u)` : ''}`;
  const body = isVector
    ? `let place = start >> 2u;
  let value = vec4<f32>(${lanes.map(({ lane, i }) => biased(lane, i)).join(', ')});
  put_result(place, ${adds ? 'get_result(place) + ' : ''}value);`
    : lanes
        .map(({ lane, i }) => {
          const value = `${adds ? `get_result(start + ${i}u) + ` : ''}${biased(lane, i)}`;
          return `if (column + ${i}u < p.columns) { put_result(start + ${i}u, ${value}); }`;
        })
        .join('\n  ');
  return `
fn store(row: u32, column: u32, values: vec4<f32>) {
  if (row >= p.rows || column >= p.columns) { return; }
  let start = row * p.resultWidth + p.resultFirst + column;
  ${body}
}`;
}
