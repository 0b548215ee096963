/** The Qwen2.5-VL vision tower: patches → windowed and full attention blocks → merged features. */
import { attention, gatherRows, recomputable, type Tensor, tensor } from '@saccade/tensor';
import type { ParameterSpec, Parameters } from './parameters.ts';
import { patchEmbedding, patchMerger, patchMergerSpecs } from './patch-merger.ts';
import { angleDtype, visionRotaryTable } from './rotary-tables.ts';
import { type BlockShape, blockSpecs, transformerBlock, visionNames } from './transformer-block.ts';
import { expectPatches, indexTensor, separateSegments } from './vision-rows.ts';
import { type PatchGrid, type WindowOptions, windowLayout } from './vision-windows.ts';

/** Sizes of a Qwen2.5-VL vision tower; `vision_config` in a Hugging Face config. */
export interface VisionTowerShape extends WindowOptions {
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
  /** Frames that one patch covers. */
  readonly temporalPatchSize: number;
  /** Indices of the blocks that attend over whole frames instead of windows. */
  readonly fullAttentionBlocks: readonly number[];
  /** Added to the mean square in the RMSNorms. */
  readonly eps: number;
  /** θ of the rotary embedding. */
  readonly ropeTheta: number;
}

/** The patches of a batch of images and clips, concatenated. */
export interface VisionTowerInput {
  /**
   * [P, channels·temporalPatchSize·patchSize²], unit by unit, as the image processor orders them.
   */
  readonly patches: Tensor;
  /** The images and clips that the patches belong to, in order. */
  readonly grids: readonly PatchGrid[];
}

/**
 * Computes the features of all images: one row per unit of mergeSize² patches, in the given order.
 *
 * Qwen2.5-VL, arXiv:2502.13923, section 2.1.1.
 *
 * @returns  [U, outputHidden], U = P / mergeSize²
 * @throws ShapeError if the patches do not fill the grids
 */
export function visionTower(
  parameters: Parameters,
  prefix: string,
  shape: VisionTowerShape,
  { patches, grids }: VisionTowerInput,
): Tensor {
  const { device, dtype } = patches;
  const { hidden, depth, eps, mergeSize, fullAttentionBlocks } = shape;
  const layout = windowLayout(grids, shape);
  const patchCount = layout.rows.length;
  expectPatches(patches, patchCount);
  const patchesPerUnit = mergeSize ** 2;
  let x = patchEmbedding(parameters, `${prefix}.patch_embed.proj`, patches, false);
  if (!layout.isIdentity) {
    const units = x.reshape([-1, patchesPerUnit * hidden]);
    x = gatherRows(units, indexTensor(device, layout.order)).reshape([-1, hidden]);
  }
  const block = visionBlockShape(shape);
  const table = visionRotaryTable(layout.rows, layout.columns, block.headDim, shape.ropeTheta);
  const cos = tensor(device, angleDtype(dtype), [patchCount, block.headDim / 2], table.cos);
  const sin = tensor(device, angleDtype(dtype), [patchCount, block.headDim / 2], table.sin);
  const windows = separateSegments(device, layout.windowSizes);
  const frames = separateSegments(device, layout.frameSizes);
  for (let i = 0; i < depth; i++) {
    const segments = fullAttentionBlocks.includes(i) ? frames : windows;
    x = recomputable(x, (h) =>
      transformerBlock(
        parameters,
        `${prefix}.blocks.${i}`,
        visionNames,
        block,
        h,
        cos,
        sin,
        (q, k, v) => attention(q, k, v, segments, { isCausal: false }),
      ),
    );
  }
  const features = patchMerger(parameters, `${prefix}.merger`, x, { patchesPerUnit, eps });
  if (layout.isIdentity) return features;
  return gatherRows(features, indexTensor(device, layout.inverse));
}

/** Parameters of the tower below `prefix`, by Hugging Face name, with q, k and v separate. */
export function visionTowerSpecs(
  prefix: string,
  shape: VisionTowerShape,
): readonly ParameterSpec[] {
  const { hidden, depth, outputHidden, channels, patchSize, temporalPatchSize } = shape;
  const block = visionBlockShape(shape);
  return [
    {
      name: `${prefix}.patch_embed.proj.weight`,
      shape: [hidden, channels, temporalPatchSize, patchSize, patchSize],
      initializer: { kind: 'scaledNormal', gain: 1 },
    },
    ...Array.from({ length: depth }, (_, i) =>
      blockSpecs(`${prefix}.blocks.${i}`, visionNames, block),
    ).flat(),
    ...patchMergerSpecs(`${prefix}.merger`, {
      hidden,
      patchesPerUnit: shape.mergeSize ** 2,
      outputHidden,
    }),
  ];
}

function visionBlockShape({ hidden, heads, intermediate, eps }: VisionTowerShape): BlockShape {
  return { hidden, heads, kvHeads: heads, headDim: hidden / heads, intermediate, eps };
}
