/** The pre-norm transformer block that the decoder and the vision tower share. */
import { add, rotary, scaleColumns, type Tensor } from '@saccade/tensor';
import { type FeedForward, swigluFeedForward } from './feed-forward.ts';
import {
  layerNormLayer,
  layerNormSpecs,
  linearLayer,
  linearSpecs,
  normSpecs,
  rmsNormLayer,
} from './layers.ts';
import { observed } from './observe-blocks.ts';
import { type ParameterSpec, type Parameters, parameter } from './parameters.ts';

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
  /** Added to the mean square, or the variance, in the norms. */
  readonly eps: number;
}

/** Names of a block's parts below its prefix, and which parts it has. */
export interface BlockNames {
  /** Root-mean-square or layer normalization. */
  readonly norm: 'rms' | 'layer';
  readonly attentionNorm: string;
  readonly query: string;
  readonly key: string;
  readonly value: string;
  readonly output: string;
  readonly mlpNorm: string;
  readonly mlp: string;
  /**
   * RMSNorms of q and k before rotation, where there are any: of every head (Qwen3), or of all
   * heads at once (InternViT-6B).
   */
  readonly qkNorm?: { readonly query: string; readonly key: string; readonly of: 'head' | 'all' };
  /** Factors of what attention and MLP add to the residual stream, where there are any: LayerScale. */
  readonly scales?: { readonly attention: string; readonly mlp: string; readonly start: number };
  readonly hasQkvBias: boolean;
  readonly hasOutputBias: boolean;
  readonly feedForward: FeedForward;
}

/**
 * Names of a decoder block of Qwen2 and Qwen2.5 in Hugging Face checkpoints. Its query, key and
 * value have a bias; output and MLP have none.
 */
export const decoderNames: BlockNames = {
  norm: 'rms',
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
  norm: 'rms',
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
 * @param cos, sin  [T, headDim/2], a table of `rotary-tables.ts`; undefined where q and k do not turn
 * @returns         [T, hidden]
 */
export function transformerBlock(
  parameters: Parameters,
  prefix: string,
  names: BlockNames,
  shape: BlockShape,
  x: Tensor,
  cos: Tensor | undefined,
  sin: Tensor | undefined,
  attend: Attend,
): Tensor {
  const { heads, kvHeads, headDim, eps } = shape;
  const { qkNorm, scales } = names;
  const normalize = (name: string, rows: Tensor) =>
    (names.norm === 'rms' ? rmsNormLayer : layerNormLayer)(
      parameters,
      `${prefix}.${name}`,
      rows,
      eps,
    );
  const addScaled = (stream: Tensor, part: Tensor, scale: string | undefined) => {
    if (scale === undefined) return add(stream, part);
    return add(stream, scaleColumns(part, parameter(parameters, `${prefix}.${scale}`)));
  };
  const h = normalize(names.attentionNorm, x);
  const project = (part: string, count: number, norm?: string) => {
    const flat = linearLayer(parameters, `${prefix}.${part}`, h, names.hasQkvBias);
    if (norm === undefined) return flat.reshape([-1, count, headDim]);
    const rows = flat.reshape([-1, qkNorm?.of === 'head' ? headDim : count * headDim]);
    return rmsNormLayer(parameters, `${prefix}.${norm}`, rows, eps).reshape([-1, count, headDim]);
  };
  const turn = (rows: Tensor) =>
    cos === undefined || sin === undefined ? rows : rotary(rows, cos, sin);
  const q = turn(project(names.query, heads, qkNorm?.query));
  const k = turn(project(names.key, kvHeads, qkNorm?.key));
  const v = project(names.value, kvHeads);
  const mixed = attend(q, k, v).reshape([-1, heads * headDim]);
  const attended = addScaled(
    x,
    linearLayer(parameters, `${prefix}.${names.output}`, mixed, names.hasOutputBias),
    scales?.attention,
  );
  const n = normalize(names.mlpNorm, attended);
  const mlp = names.feedForward.apply(parameters, `${prefix}.${names.mlp}`, n);
  return observed(prefix, addScaled(attended, mlp, scales?.mlp));
}

/** Parameters of one block, each projection scaled to keep the size of its input. */
export function blockSpecs(
  prefix: string,
  names: BlockNames,
  shape: BlockShape,
): readonly ParameterSpec[] {
  const { hidden, heads, kvHeads, headDim, intermediate } = shape;
  const { qkNorm, scales, hasQkvBias, feedForward } = names;
  const norm = names.norm === 'rms' ? normSpecs : layerNormSpecs;
  const ofHeads = (name: string | undefined, count: number) =>
    name === undefined
      ? []
      : normSpecs(`${prefix}.${name}`, qkNorm?.of === 'head' ? headDim : count * headDim);
  const scale = (name: string | undefined): readonly ParameterSpec[] =>
    name === undefined
      ? []
      : [
          {
            name: `${prefix}.${name}`,
            shape: [hidden],
            initializer: { kind: 'constant', value: scales?.start ?? 1 },
          },
        ];
  return [
    ...norm(`${prefix}.${names.attentionNorm}`, hidden),
    ...linearSpecs(`${prefix}.${names.query}`, heads * headDim, hidden, hasQkvBias),
    ...linearSpecs(`${prefix}.${names.key}`, kvHeads * headDim, hidden, hasQkvBias),
    ...linearSpecs(`${prefix}.${names.value}`, kvHeads * headDim, hidden, hasQkvBias),
    ...ofHeads(qkNorm?.query, heads),
    ...ofHeads(qkNorm?.key, kvHeads),
    ...linearSpecs(`${prefix}.${names.output}`, hidden, heads * headDim, names.hasOutputBias),
    ...scale(scales?.attention),
    ...norm(`${prefix}.${names.mlpNorm}`, hidden),
    ...feedForward.specs(`${prefix}.${names.mlp}`, hidden, intermediate),
    ...scale(scales?.mlp),
  ];
}
