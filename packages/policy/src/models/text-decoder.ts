/** The text decoder that architectures share: embedding, transformer blocks, final norm, LM head. */
import {
  type BlockNames,
  type BlockShape,
  blockSpecs,
  type ParameterSpec,
  type Parameters,
  parameter,
  type RotaryTable,
  transformerBlock,
} from '@saccade/nn';
import type { Device } from '@saccade/ops';
import { add, embedding, recomputable, rmsNorm, type Tensor, tensor, zeros } from '@saccade/tensor';
import type { DecoderInput, LayerAttend } from './language-model.ts';
import { VISUAL } from './positions.ts';

/** Sizes of a text decoder. */
export interface TextShape extends BlockShape {
  /** Rows of the token embedding and of the LM head. */
  readonly vocabSize: number;
  /** Number of blocks. */
  readonly layers: number;
  /** Whether the LM head is the token embedding. */
  readonly isTied: boolean;
  /** The parts of a block. */
  readonly block: BlockNames;
  /** The parts of the block of a layer, where they differ. Default: `block` throughout. */
  readonly blockOf?: (layer: number) => BlockNames;
}

/**
 * Hidden states before the final norm: [N, hidden]. Features of further levels are added to the
 * visual rows after the first layers, one level a layer (DeepStack, arXiv:2406.04334).
 *
 * @param table  [N, headDim/2], the rotary angles of the input's positions
 */
export function decodeText(
  device: Device,
  parameters: Parameters,
  shape: TextShape,
  { ids: tokens, features: [features, ...levels] }: DecoderInput,
  table: RotaryTable,
  attend: LayerAttend,
): Tensor {
  let visual = 0;
  const ids = tokens.map((id) => (id === VISUAL ? shape.vocabSize + visual++ : id));
  const angles = [ids.length, shape.headDim / 2];
  const cos = tensor(device, 'f32', angles, table.cos);
  const sin = tensor(device, 'f32', angles, table.sin);
  let x = embedding(
    parameter(parameters, 'model.embed_tokens.weight'),
    tensor(device, 'i32', [ids.length], ids),
    features,
  );
  for (let layer = 0; layer < shape.layers; layer++) {
    const prefix = `model.layers.${layer}`;
    const block = blockAt(shape, layer);
    x = recomputable(x, (h) =>
      transformerBlock(parameters, prefix, block, shape, h, cos, sin, (q, k, v) =>
        attend(layer, q, k, v),
      ),
    );
    const level = levels[layer];
    if (level !== undefined) x = add(x, atVisualRows(device, tokens, level));
  }
  return x;
}

const blockAt = ({ block, blockOf }: TextShape, layer: number): BlockNames =>
  blockOf?.(layer) ?? block;

/** Rows of features [E, hidden] where visual rows are, and zeros elsewhere: [N, hidden]. */
function atVisualRows(device: Device, tokens: Int32Array, features: Tensor): Tensor {
  let visual = 0;
  const rows = tokens.map((id) => (id === VISUAL ? 1 + visual++ : 0));
  const nothing = zeros(device, features.dtype, [1, features.shape[1] ?? 0]);
  return embedding(nothing, tensor(device, 'i32', [rows.length], rows), features);
}

/** The final norm: the rows the LM head takes. */
export function finalNorm(parameters: Parameters, { eps }: TextShape, x: Tensor): Tensor {
  return rmsNorm(x, parameter(parameters, 'model.norm.weight'), eps);
}

/** The LM head [V, hidden]; the token embedding itself where they are tied. */
export function lmHead(parameters: Parameters, { isTied }: TextShape): Tensor {
  return parameter(parameters, isTied ? 'model.embed_tokens.weight' : 'lm_head.weight');
}

/** Parameters of the decoder and its head, under Hugging Face's names. */
export function textSpecs(shape: TextShape): readonly ParameterSpec[] {
  const table = [shape.vocabSize, shape.hidden];
  return [
    {
      name: 'model.embed_tokens.weight',
      shape: table,
      // Tied to the LM head: this spread starts the logits near unit variance.
      initializer: { kind: 'normal', std: 1 / Math.sqrt(shape.hidden) },
    },
    ...Array.from({ length: shape.layers }, (_, layer) =>
      blockSpecs(`model.layers.${layer}`, blockAt(shape, layer), shape),
    ).flat(),
    {
      name: 'model.norm.weight',
      shape: [shape.hidden],
      initializer: { kind: 'constant', value: 1 },
    },
    ...(shape.isTied
      ? []
      : [
          {
            name: 'lm_head.weight',
            shape: table,
            initializer: { kind: 'scaledNormal', gain: 1 } as const,
          },
        ]),
  ];
}
