/** The Qwen3-VL vision tower: learned and rotary positions, and features of several depths. */
import { add, attention, gelu, type Tensor, tensor } from '@saccade/tensor';
import { geluFeedForward } from './feed-forward.ts';
import { layerNormLayer, layerNormSpecs, linearLayer, linearSpecs } from './layers.ts';
import { type ParameterSpec, type Parameters, parameter } from './parameters.ts';
import { patchEmbedding } from './patch-merger.ts';
import { interpolatedPositions } from './position-table.ts';
import { angleDtype, visionRotaryTable } from './rotary-tables.ts';
import {
  type BlockNames,
  type BlockShape,
  blockSpecs,
  transformerBlock,
  visionNames,
} from './transformer-block.ts';
import {
  expectPatches,
  frameSizes,
  mergeOrder,
  overFrames,
  separateSegments,
} from './vision-rows.ts';
import type { VisionTowerInput } from './vision-tower.ts';

/** Sizes of a Qwen3-VL vision tower; `vision_config` in a Hugging Face config. */
export interface DeepstackTowerShape {
  /** Number of transformer blocks. */
  readonly depth: number;
  /** Width of the residual stream. */
  readonly hidden: number;
  /** Attention heads; divides `hidden`. Keys and values have as many. */
  readonly heads: number;
  /** Width of the MLPs. */
  readonly intermediate: number;
  /** Width of the features, the decoder's residual stream. */
  readonly outputHidden: number;
  /** Color channels of an image. */
  readonly channels: number;
  /** Side of a patch, pixels. */
  readonly patchSize: number;
  /** Patches per side of a merged unit. */
  readonly mergeSize: number;
  /** Frames that one patch covers. */
  readonly temporalPatchSize: number;
  /** Rows of the square table of learned positions, side². */
  readonly positions: number;
  /** Indices of the blocks whose outputs become features too. */
  readonly deepstackBlocks: readonly number[];
  /** Added to the variance in the norms. */
  readonly eps: number;
  /** θ of the rotary embedding. */
  readonly ropeTheta: number;
}

const blockNames: BlockNames = {
  ...visionNames,
  norm: 'layer',
  feedForward: geluFeedForward({ layers: ['linear_fc1', 'linear_fc2'], approximate: 'tanh' }),
};

/**
 * Computes the features of all images, one row per unit of mergeSize² patches: those of the last
 * block, then those of each of `deepstackBlocks`. Qwen3-VL, arXiv:2511.21631, section 2; DeepStack,
 * arXiv:2406.04334.
 *
 * @returns  [U, outputHidden] each, U = P / mergeSize²
 * @throws ShapeError if the patches do not fill the grids
 */
export function deepstackTower(
  parameters: Parameters,
  prefix: string,
  shape: DeepstackTowerShape,
  { patches, grids }: VisionTowerInput,
): readonly Tensor[] {
  const { device, dtype } = patches;
  const { mergeSize, depth, deepstackBlocks } = shape;
  const places = new Map(grids.map((grid) => [grid, mergeOrder(grid, mergeSize)] as const));
  const rows = overFrames(grids, (grid) => places.get(grid)?.rows as Int32Array);
  const columns = overFrames(grids, (grid) => places.get(grid)?.columns as Int32Array);
  expectPatches(patches, rows.length);
  const table = parameter(parameters, `${prefix}.pos_embed.weight`);
  let x = add(
    patchEmbedding(parameters, `${prefix}.patch_embed.proj`, patches, true),
    interpolatedPositions(device, table, grids, mergeSize),
  );
  const block = blockShape(shape);
  const angles = visionRotaryTable(rows, columns, block.headDim, shape.ropeTheta);
  const cos = tensor(device, angleDtype(dtype), [rows.length, block.headDim / 2], angles.cos);
  const sin = tensor(device, angleDtype(dtype), [rows.length, block.headDim / 2], angles.sin);
  const segments = separateSegments(device, frameSizes(grids));
  const features: Tensor[] = [];
  for (let i = 0; i < depth; i++) {
    const name = `${prefix}.blocks.${i}`;
    x = transformerBlock(parameters, name, blockNames, block, x, cos, sin, (q, k, v) =>
      attention(q, k, v, segments, { isCausal: false }),
    );
    const level = deepstackBlocks.indexOf(i);
    if (level < 0) continue;
    features[level] = merge(parameters, `${prefix}.deepstack_merger_list.${level}`, shape, x, true);
  }
  return [merge(parameters, `${prefix}.merger`, shape, x, false), ...features];
}

/**
 * Merges the patches of each unit into one visual token: y = W₂·gelu(W₁·u + b₁) + b₂, where u is
 * concat(norm(x)), or norm(concat(x)) where the norm comes after the concatenation.
 */
function merge(
  parameters: Parameters,
  name: string,
  { hidden, mergeSize, eps }: DeepstackTowerShape,
  x: Tensor,
  isNormAfter: boolean,
): Tensor {
  const unit = [-1, hidden * mergeSize ** 2];
  const rows = isNormAfter ? x.reshape(unit) : x;
  const units = layerNormLayer(parameters, `${name}.norm`, rows, eps).reshape(unit);
  const inner = gelu(linearLayer(parameters, `${name}.linear_fc1`, units, true));
  return linearLayer(parameters, `${name}.linear_fc2`, inner, true);
}

/** Parameters of the tower below `prefix`, by Hugging Face name, with q, k and v separate. */
export function deepstackTowerSpecs(
  prefix: string,
  shape: DeepstackTowerShape,
): readonly ParameterSpec[] {
  const { hidden, depth, outputHidden, channels, patchSize, temporalPatchSize } = shape;
  const merged = hidden * shape.mergeSize ** 2;
  const block = blockShape(shape);
  const merger = (name: string, normWidth: number) => [
    ...layerNormSpecs(`${name}.norm`, normWidth),
    ...linearSpecs(`${name}.linear_fc1`, merged, merged, true),
    ...linearSpecs(`${name}.linear_fc2`, outputHidden, merged, true),
  ];
  return [
    {
      name: `${prefix}.patch_embed.proj.weight`,
      shape: [hidden, channels, temporalPatchSize, patchSize, patchSize],
      initializer: { kind: 'scaledNormal', gain: 1 },
    },
    {
      name: `${prefix}.patch_embed.proj.bias`,
      shape: [hidden],
      initializer: { kind: 'constant', value: 0 },
    },
    {
      name: `${prefix}.pos_embed.weight`,
      shape: [shape.positions, hidden],
      initializer: { kind: 'normal', std: 1 / Math.sqrt(hidden) },
    },
    ...Array.from({ length: depth }, (_, i) =>
      blockSpecs(`${prefix}.blocks.${i}`, blockNames, block),
    ).flat(),
    ...merger(`${prefix}.merger`, hidden),
    ...shape.deepstackBlocks.flatMap((_, level) =>
      merger(`${prefix}.deepstack_merger_list.${level}`, merged),
    ),
  ];
}

function blockShape({ hidden, heads, intermediate, eps }: DeepstackTowerShape): BlockShape {
  return { hidden, heads, kvHeads: heads, headDim: hidden / heads, intermediate, eps };
}
