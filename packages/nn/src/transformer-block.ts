/** The pre-norm transformer block that the decoder and the vision tower share. */
import { add, rotary, type Tensor } from '@saccade/tensor';
import { type FeedForward, swigluFeedForward } from './feed-forward.ts';
import { linearLayer, linearSpecs, normSpecs, rmsNormLayer } from './layers.ts';
import type { ParameterSpec, Parameters } from './parameters.ts';

/** Sizes of a transformer block with grouped-query attention. */
export interface BlockShape {
  /** Width of the residual stream. */
  readonly hidden: number;
  /** Query heads. */
  readonly heads: number;
  /** Key and value heads; divides `heads`. */
  readonly kvHeads: number;
  /** Size of a head. */
  readonly headDim: number;
  /** Width of the MLP. */
  readonly intermediate: number;
  /** Added to the mean square in the RMSNorms. */
  readonly eps: number;
}

/** Names of a block's parts below its prefix, and which parts it has. */
export interface BlockNames {
  readonly attentionNorm: string;
  readonly query: string;
  readonly key: string;
  readonly value: string;
  readonly output: string;
  readonly mlpNorm: string;
  readonly mlp: string;
  /** RMSNorms of every head of q and k before rotation (Qwen3), where there are any. */
  readonly headNorms?: { readonly query: string; readonly key: string };
  readonly hasQkvBias: boolean;
  readonly hasOutputBias: boolean;
  readonly feedForward: FeedForward;
}

/**
 * Names of a decoder block of Qwen2 and Qwen2.5 in Hugging Face checkpoints. Its query, key and
 * value have a bias; output and MLP have none.
 */
export const decoderNames: BlockNames = {
  attentionNorm: 'input_layernorm',
  query: 'self_attn.q_proj',
  key: 'self_attn.k_proj',
  value: 'self_attn.v_proj',
  output: 'self_attn.o_proj',
  mlpNorm: 'post_attention_layernorm',
  mlp: 'mlp',
  hasQkvBias: true,
  hasOutputBias: false,
  feedForward: swigluFeedForward({ hasBias: false }),
};

/**
 * Names of a block of Qwen2.5-VL's vision tower. Checkpoints fuse its q, k and v as `attn.qkv`;
 * loaders split them.
 */
export const visionNames: BlockNames = {
  attentionNorm: 'norm1',
  query: 'attn.q',
  key: 'attn.k',
  value: 'attn.v',
  output: 'attn.proj',
  mlpNorm: 'norm2',
  mlp: 'mlp',
  hasQkvBias: true,
  hasOutputBias: true,
  feedForward: swigluFeedForward({ hasBias: true }),
};

/** Attention of a block: q [T, H, D], k and v [T, G, D], rotary applied to q and k → [T, H, D]. */
export type Attend = (q: Tensor, k: Tensor, v: Tensor) => Tensor;

/**
 * One block: h = x + attention(norm(x)), then h + mlp(norm(h)).
 *
 * @param x         [T, hidden]
 * @param cos, sin  [T, headDim/2], a table of `rotary-tables.ts`
 * @returns         [T, hidden]
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
  const { headNorms, feedForward } = names;
  const h = rmsNormLayer(parameters, `${prefix}.${names.attentionNorm}`, x, eps);
  const project = (part: string, count: number, norm?: string) => {
    const flat = linearLayer(parameters, `${prefix}.${part}`, h, names.hasQkvBias);
    if (norm === undefined) return flat.reshape([-1, count, headDim]);
    const perHead = flat.reshape([-1, headDim]);
    return rmsNormLayer(parameters, `${prefix}.${norm}`, perHead, eps).reshape([
      -1,
      count,
      headDim,
    ]);
  };
  const q = rotary(project(names.query, heads, headNorms?.query), cos, sin);
  const k = rotary(project(names.key, kvHeads, headNorms?.key), cos, sin);
  const v = project(names.value, kvHeads);
  const mixed = attend(q, k, v).reshape([-1, heads * headDim]);
  const attended = add(
    x,
    linearLayer(parameters, `${prefix}.${names.output}`, mixed, names.hasOutputBias),
  );
  const n = rmsNormLayer(parameters, `${prefix}.${names.mlpNorm}`, attended, eps);
  return add(attended, feedForward.apply(parameters, `${prefix}.${names.mlp}`, n));
}

/** Parameters of one block, each projection scaled to keep the size of its input. */
export function blockSpecs(
  prefix: string,
  names: BlockNames,
  shape: BlockShape,
): readonly ParameterSpec[] {
  const { hidden, heads, kvHeads, headDim, intermediate } = shape;
  const { headNorms, hasQkvBias, feedForward } = names;
  const norms = headNorms === undefined ? [] : [headNorms.query, headNorms.key];
  return [
    ...normSpecs(`${prefix}.${names.attentionNorm}`, hidden),
    ...linearSpecs(`${prefix}.${names.query}`, heads * headDim, hidden, hasQkvBias),
    ...linearSpecs(`${prefix}.${names.key}`, kvHeads * headDim, hidden, hasQkvBias),
    ...linearSpecs(`${prefix}.${names.value}`, kvHeads * headDim, hidden, hasQkvBias),
    ...norms.flatMap((norm) => normSpecs(`${prefix}.${norm}`, headDim)),
    ...linearSpecs(`${prefix}.${names.output}`, hidden, heads * headDim, names.hasOutputBias),
    ...normSpecs(`${prefix}.${names.mlpNorm}`, hidden),
    ...feedForward.specs(`${prefix}.${names.mlp}`, hidden, intermediate),
  ];
}
