/** The pre-norm transformer block that the decoder and the vision tower share. */
import { add, linear, rmsNorm, rotary, swiglu, type Tensor } from '@saccade/tensor';
import { type ParameterSpec, type Parameters, parameter } from './parameters.ts';

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

/** Checkpoints hold the vision tower's q, k and v fused as `attn.qkv`; see `fused.ts`. */
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
  const weight = (part: string) => parameter(parameters, `${prefix}.${part}.weight`);
  const bias = (part: string) => parameter(parameters, `${prefix}.${part}.bias`);
  const { heads, kvHeads, headDim, eps } = shape;

  const h = rmsNorm(x, weight(names.attentionNorm), eps);
  const project = (part: string, count: number) =>
    linear(h, weight(part), bias(part)).reshape([-1, count, headDim]);
  const q = rotary(project(names.query, heads), cos, sin);
  const k = rotary(project(names.key, kvHeads), cos, sin);
  const v = project(names.value, kvHeads);
  const mixed = attend(q, k, v).reshape([-1, heads * headDim]);
  const outputBias = names.hasOutputBias ? bias(names.output) : undefined;
  const attended = add(x, linear(mixed, weight(names.output), outputBias));

  const n = rmsNorm(attended, weight(names.mlpNorm), eps);
  const part = (name: string) => `${names.mlp}.${name}`;
  const mlpBias = (name: string) => (names.hasMlpBias ? bias(part(name)) : undefined);
  const gate = linear(n, weight(part('gate_proj')), mlpBias('gate_proj'));
  const up = linear(n, weight(part('up_proj')), mlpBias('up_proj'));
  const down = linear(swiglu(gate, up), weight(part('down_proj')), mlpBias('down_proj'));
  return add(attended, down);
}

/** Parameters of one block, each projection scaled to keep the size of its input. */
export function blockSpecs(
  prefix: string,
  names: BlockNames,
  shape: BlockShape,
): readonly ParameterSpec[] {
  const { hidden, heads, kvHeads, headDim, intermediate } = shape;
  const specs: ParameterSpec[] = [];
  const norm = (part: string) =>
    specs.push({
      name: `${prefix}.${part}.weight`,
      shape: [hidden],
      initializer: { kind: 'constant', value: 1 },
    });
  const projection = (part: string, rows: number, columns: number, hasBias: boolean) => {
    specs.push({
      name: `${prefix}.${part}.weight`,
      shape: [rows, columns],
      initializer: { kind: 'scaledNormal', gain: 1 },
    });
    if (!hasBias) return;
    specs.push({
      name: `${prefix}.${part}.bias`,
      shape: [rows],
      initializer: { kind: 'constant', value: 0 },
    });
  };
  norm(names.attentionNorm);
  projection(names.query, heads * headDim, hidden, true);
  projection(names.key, kvHeads * headDim, hidden, true);
  projection(names.value, kvHeads * headDim, hidden, true);
  projection(names.output, hidden, heads * headDim, names.hasOutputBias);
  norm(names.mlpNorm);
  projection(`${names.mlp}.gate_proj`, intermediate, hidden, names.hasMlpBias);
  projection(`${names.mlp}.up_proj`, intermediate, hidden, names.hasMlpBias);
  projection(`${names.mlp}.down_proj`, hidden, intermediate, names.hasMlpBias);
  return specs;
}
