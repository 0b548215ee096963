/** Qwen2.5-VL (arXiv:2502.13923): vision tower, M-RoPE decoder with grouped-query attention. */
import {
  type BlockShape,
  blockSpecs,
  decoderNames,
  mropeTable,
  type ParameterSpec,
  type Parameters,
  parameter,
  transformerBlock,
} from '@saccade/nn';
import type { Device } from '@saccade/ops';
import { embedding, rmsNorm, type Tensor, tensor } from '@saccade/tensor';
import type { ModelImage } from '../batch.ts';
import type { ModelConfig } from './config.ts';
import { VISUAL } from './positions.ts';
import { visionSpecs, visualFeatures } from './vision-tower.ts';

/** The decoder's input for N token rows. */
export interface DecoderInput {
  /** [N] token ids; VISUAL rows take the images' features in order. */
  readonly ids: Int32Array;
  /** [3, N] temporal, height and width positions. */
  readonly positions: Int32Array;
  /** Images of the placeholders, in order. */
  readonly images: readonly ModelImage[];
  /** [E, hidden] their features, where they are known. Default: they are computed. */
  readonly features?: Tensor | undefined;
}

/** Attention of decoder layer `layer`; q [N, H, D], k and v [N, G, D], q and k rotated. */
export type LayerAttend = (layer: number, q: Tensor, k: Tensor, v: Tensor) => Tensor;

/** Hidden states before the final norm: [N, hidden]. */
export function decode(
  device: Device,
  parameters: Parameters,
  config: ModelConfig,
  input: DecoderInput,
  attend: LayerAttend,
): Tensor {
  const { positions, images } = input;
  const shape = decoderShape(config);
  const features =
    input.features ??
    (images.length > 0 ? visualFeatures(device, parameters, config, images) : undefined);
  let visual = 0;
  const ids = input.ids.map((id) => (id === VISUAL ? config.vocabSize + visual++ : id));
  const table = mropeTable(positions, shape.headDim, config.mropeSection, config.ropeTheta);
  const angles = [ids.length, shape.headDim / 2];
  const cos = tensor(device, 'f32', angles, table.cos);
  const sin = tensor(device, 'f32', angles, table.sin);
  let x = embedding(
    parameter(parameters, 'model.embed_tokens.weight'),
    tensor(device, 'i32', [ids.length], ids),
    features,
  );
  for (let layer = 0; layer < config.layers; layer++) {
    const prefix = `model.layers.${layer}`;
    x = transformerBlock(parameters, prefix, decoderNames, shape, x, cos, sin, (q, k, v) =>
      attend(layer, q, k, v),
    );
  }
  return x;
}

/** The final norm: the rows the LM head takes. */
export function finalNorm(parameters: Parameters, config: ModelConfig, x: Tensor): Tensor {
  return rmsNorm(x, parameter(parameters, 'model.norm.weight'), config.eps);
}

/** The LM head [V, hidden]; the token embedding itself where they are tied. */
export function lmHead(parameters: Parameters, config: ModelConfig): Tensor {
  return parameter(parameters, config.isTied ? 'model.embed_tokens.weight' : 'lm_head.weight');
}

export function decoderShape(config: ModelConfig): BlockShape {
  return {
    hidden: config.hidden,
    heads: config.heads,
    kvHeads: config.kvHeads,
    headDim: config.hidden / config.heads,
    intermediate: config.intermediate,
    eps: config.eps,
  };
}

/** Every parameter with its shape and start, under Hugging Face's names (vision q, k, v apart). */
export function parameterSpecs(config: ModelConfig): readonly ParameterSpec[] {
  const table = [config.vocabSize, config.hidden];
  return [
    {
      name: 'model.embed_tokens.weight',
      shape: table,
      // Tied to the LM head: this spread starts the logits near unit variance.
      initializer: { kind: 'normal', std: 1 / Math.sqrt(config.hidden) },
    },
    ...Array.from({ length: config.layers }, (_, layer) =>
      blockSpecs(`model.layers.${layer}`, decoderNames, decoderShape(config)),
    ).flat(),
    {
      name: 'model.norm.weight',
      shape: [config.hidden],
      initializer: { kind: 'constant', value: 1 },
    },
    ...(config.isTied
      ? []
      : [
          {
            name: 'lm_head.weight',
            shape: table,
            initializer: { kind: 'scaledNormal', gain: 1 } as const,
          },
        ]),
    ...visionSpecs(config),
  ];
}
