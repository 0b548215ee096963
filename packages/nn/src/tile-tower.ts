/** A vision transformer over square tiles of one size, and its output as units of merged patches. */
import { ShapeError } from '@saccade/core';
import { add, attention, embedding, gatherRows, type Tensor } from '@saccade/tensor';
import { layerNormLayer, layerNormSpecs } from './layers.ts';
import { type ParameterSpec, type Parameters, parameter } from './parameters.ts';
import { patchEmbedding } from './patch-merger.ts';
import {
  type BlockNames,
  type BlockShape,
  blockSpecs,
  transformerBlock,
} from './transformer-block.ts';
import { expectPatches, indexTensor, mergeOrder, separateSegments } from './vision-rows.ts';
import type { VisionTowerInput } from './vision-tower.ts';

/** Sizes of a tower of tiles; `vision_config` in a Hugging Face config. */
export interface TileTowerShape {
  /** Number of transformer blocks. */
  readonly depth: number;
  /** Width of the residual stream. */
  readonly hidden: number;
  /** Attention heads; divides `hidden`. Keys and values have as many. */
  readonly heads: number;
  /** Width of the MLPs. */
  readonly intermediate: number;
  /** Color channels of an image. */
  readonly channels: number;
  /** Side of a patch, pixels. */
  readonly patchSize: number;
  /** Patches per side of a tile. */
  readonly side: number;
  /** Patches per side of a unit, which becomes one token. */
  readonly mergeSize: number;
  /** Added to the variance in the norms. */
  readonly eps: number;
}

/** Names of a tower's parts below its prefix, and which parts it has. */
export interface TileTowerNames {
  readonly patches: string;
  /** The learned positions, [side², hidden], or [1, 1 + side², hidden] with a class token. */
  readonly positions: string;
  /** The token [1, 1, hidden] before the patches of a tile, where there is one. */
  readonly classToken?: string;
  readonly layers: string;
  readonly block: BlockNames;
  /** Layer normalization after the last block, where there is one. */
  readonly finalNorm?: string;
}

/**
 * The units of all tiles: each concatenates mergeSize² neighboring patches, which pixel shuffles with
 * two permutes give too; units row by row, tiles one after another. A class token is dropped.
 *
 * @param input  patches of every tile row by row
 * @returns      [U, mergeSize²·hidden]
 * @throws ShapeError if a tile is not side × side patches
 */
export function tileTower(
  parameters: Parameters,
  prefix: string,
  names: TileTowerNames,
  shape: TileTowerShape,
  { patches, grids }: VisionTowerInput,
): Tensor {
  const { device } = patches;
  const { side, depth, hidden, eps, mergeSize } = shape;
  for (const { height, width } of grids) {
    if (height === side && width === side) continue;
    throw new ShapeError(
      `A tile has ${height}×${width} patches; this tower takes ${side}×${side}. ` +
        'Resize images to its tiles.',
    );
  }
  const tiles = grids.reduce((sum, { frames }) => sum + frames, 0);
  const count = side ** 2;
  expectPatches(patches, tiles * count);
  const extra = names.classToken === undefined ? 0 : 1;
  const length = count + extra;
  const order = rowOrder(shape);
  const perTile = (of: (tile: number, row: number) => number) =>
    indexTensor(
      device,
      Int32Array.from({ length: tiles * length }, (_, i) =>
        of(Math.floor(i / length), (i % length) - extra),
      ),
    );
  // Row −1 of a tile is its class token; the others are patches in merge order.
  const patchOf = (row: number) => order[row] as number;
  const embedded = patchEmbedding(parameters, `${prefix}.${names.patches}`, patches, true);
  const rows =
    names.classToken === undefined
      ? gatherRows(
          embedded,
          perTile((tile, row) => tile * count + patchOf(row)),
        )
      : embedding(
          parameter(parameters, `${prefix}.${names.classToken}`).reshape([1, hidden]),
          perTile((tile, row) => (row < 0 ? 0 : 1 + tile * count + patchOf(row))),
          embedded,
        );
  const table = parameter(parameters, `${prefix}.${names.positions}`).reshape([-1, hidden]);
  const places = perTile((_, row) => (row < 0 ? 0 : extra + patchOf(row)));
  let x = add(rows, gatherRows(table, places));
  const segments = separateSegments(device, new Array(tiles).fill(length));
  const block = blockShape(shape);
  for (let i = 0; i < depth; i++) {
    const layer = `${prefix}.${names.layers}.${i}`;
    x = transformerBlock(
      parameters,
      layer,
      names.block,
      block,
      x,
      undefined,
      undefined,
      (q, k, v) => attention(q, k, v, segments, { isCausal: false }),
    );
  }
  if (extra > 0) {
    const kept = Int32Array.from(
      { length: tiles * count },
      (_, i) => Math.floor(i / count) * length + extra + (i % count),
    );
    x = gatherRows(x, indexTensor(device, kept));
  }
  if (names.finalNorm !== undefined) {
    x = layerNormLayer(parameters, `${prefix}.${names.finalNorm}`, x, eps);
  }
  return x.reshape([-1, mergeSize ** 2 * hidden]);
}

/** The patch of a tile, counted row by row, at each place of merge order. */
function rowOrder({ side, mergeSize }: TileTowerShape): Int32Array {
  const { rows, columns } = mergeOrder({ height: side, width: side }, mergeSize);
  return rows.map((row, i) => row * side + (columns[i] as number));
}

/** Parameters of the tower below `prefix`, by Hugging Face name. */
export function tileTowerSpecs(
  prefix: string,
  names: TileTowerNames,
  shape: TileTowerShape,
): readonly ParameterSpec[] {
  const { hidden, channels, patchSize, side, depth } = shape;
  const spread = { kind: 'normal', std: 1 / Math.sqrt(hidden) } as const;
  const patches = `${prefix}.${names.patches}`;
  const positions =
    names.classToken === undefined ? [side ** 2, hidden] : [1, 1 + side ** 2, hidden];
  return [
    ...(names.classToken === undefined
      ? []
      : [{ name: `${prefix}.${names.classToken}`, shape: [1, 1, hidden], initializer: spread }]),
    { name: `${prefix}.${names.positions}`, shape: positions, initializer: spread },
    {
      name: `${patches}.weight`,
      shape: [hidden, channels, patchSize, patchSize],
      initializer: { kind: 'scaledNormal', gain: 1 },
    },
    { name: `${patches}.bias`, shape: [hidden], initializer: { kind: 'constant', value: 0 } },
    ...Array.from({ length: depth }, (_, i) =>
      blockSpecs(`${prefix}.${names.layers}.${i}`, names.block, blockShape(shape)),
    ).flat(),
    ...(names.finalNorm === undefined
      ? []
      : layerNormSpecs(`${prefix}.${names.finalNorm}`, hidden)),
  ];
}

function blockShape({ hidden, heads, intermediate, eps }: TileTowerShape): BlockShape {
  return { hidden, heads, kvHeads: heads, headDim: hidden / heads, intermediate, eps };
}
