/** The pre-norm transformer block that the decoder and the vision tower share. */
import { add, rotary, type Tensor } from '@saccade/tensor';
import {
  linearLayer,
  linearSpecs,
  normSpecs,
  rmsNormLayer,
  swigluMlp,
  swigluMlpSpecs,
} from './layers.ts';
import type { ParameterSpec, Parameters } from './parameters.ts';

export interface BlockShape {
  /** Width of the residual stream. */
  readonly hidden: number;
  readonly heads: number;
  /** Key and value heads; divides `heads`. */
  readonly kvHeads: number;
  readonly headDim: number;
  /** Width of the MLP. */
  readonly intermediate: number;
  readonly eps: number;
}

/** Names of a block's parts below its prefix, and which projections have a bias. */
export interface BlockNames {
  readonly attentionNorm: string;
  readonly query: string;
  readonly key: string;
  readonly value: string;
  readonly output: string;
  readonly mlpNorm: string;
  readonly mlp: string;
  readonly hasOutputBias: boolean;
  readonly hasMlpBias: boolean;
}

export const decoderNames: BlockNames = {
  attentionNorm: 'input_layernorm',
  query: 'self_attn.q_proj',
  key: 'self_attn.k_proj',
  value: 'self_attn.v_proj',
  output: 'self_attn.o_proj',
  mlpNorm: 'post_attention_layernorm',
  mlp: 'mlp',
  hasOutputBias: false,
  hasMlpBias: false,
};

/** Checkpoints hold q, k and v of the vision tower fused as `attn.qkv`; loaders split them. */
export const visionNames: BlockNames = {
  attentionNorm: 'norm1',
  query: 'attn.q',
  key: 'attn.k',
  value: 'attn.v',
  output: 'attn.proj',
  mlpNorm: 'norm2',
  mlp: 'mlp',
  hasOutputBias: true,
  hasMlpBias: true,
};

/** q [T, H, D], k and v [T, G, D], already rotated → [T, H, D]. */
export type Attend = (q: Tensor, k: Tensor, v: Tensor) => Tensor;

/**
 * x + attention(norm(x)), then + mlp(norm(·)).
 *
 * @param x    [T, hidden]
 * @param cos  [T, headDim/2], with `sin`
 */
export function transformerBlock(
  parameters: Parameters,
  prefix: string,
  names: BlockNames,
  shape: BlockShape,
  x: Tensor,
  cos: Tensor,
  sin: Tensor,
  attend: Attend,
): Tensor {
  const { heads, kvHeads, headDim, eps } = shape;
  const h = rmsNormLayer(parameters, `${prefix}.${names.attentionNorm}`, x, eps);
  const project = (part: string, count: number) =>
    linearLayer(parameters, `${prefix}.${part}`, h, true).reshape([-1, count, headDim]);
  const q = rotary(project(names.query, heads), cos, sin);
  const k = rotary(project(names.key, kvHeads), cos, sin);
  const v = project(names.value, kvHeads);
  const mixed = attend(q, k, v).reshape([-1, heads * headDim]);
  const attended = add(
    x,
    linearLayer(parameters, `${prefix}.${names.output}`, mixed, names.hasOutputBias),
  );
  const n = rmsNormLayer(parameters, `${prefix}.${names.mlpNorm}`, attended, eps);
  return add(attended, swigluMlp(parameters, `${prefix}.${names.mlp}`, n, names.hasMlpBias));
}

/** Parameters of one block, each projection scaled to keep the size of its input. */
export function blockSpecs(
  prefix: string,
  names: BlockNames,
  shape: BlockShape,
): readonly ParameterSpec[] {
  const { hidden, heads, kvHeads, headDim, intermediate } = shape;
  return [
    ...normSpecs(`${prefix}.${names.attentionNorm}`, hidden),
    ...linearSpecs(`${prefix}.${names.query}`, heads * headDim, hidden, true),
    ...linearSpecs(`${prefix}.${names.key}`, kvHeads * headDim, hidden, true),
    ...linearSpecs(`${prefix}.${names.value}`, kvHeads * headDim, hidden, true),
    ...linearSpecs(`${prefix}.${names.output}`, hidden, heads * headDim, names.hasOutputBias),
    ...normSpecs(`${prefix}.${names.mlpNorm}`, hidden),
    ...swigluMlpSpecs(`${prefix}.${names.mlp}`, hidden, intermediate, names.hasMlpBias),
  ];
}
