/** Typed functions over the ops: argument names and shapes, no formulas. */
import { attentionDecode as attentionDecodeOp, attention as attentionOp } from '@saccade/attention';
import { type DType, formatShape, ShapeError, StateError } from '@saccade/core';
import { linearLogprob as linearLogprobOp, linearSample as linearSampleOp } from '@saccade/logprob';
import {
  add as addOp,
  embedding as embeddingOp,
  expertLinear as expertLinearOp,
  gatherRows as gatherRowsOp,
  gelu as geluOp,
  gemm,
  layerNorm as layerNormOp,
  rmsNorm as rmsNormOp,
  rotary as rotaryOp,
  routeExperts as routeExpertsOp,
  scatterRows as scatterRowsOp,
  swiglu as swigluOp,
  weightedSum as weightedSumOp,
} from '@saccade/ops';
import { apply, type TensorArguments } from './apply.ts';
import { scope, tensor, zeros } from './scope.ts';
import { recordingTape } from './tape.ts';
import type { Tensor } from './tensor.ts';

/** Frees what `work` makes besides its result, unless a tape keeps it for its backward. */
function tidy<Result>(work: () => Result): Result {
  return recordingTape() === undefined ? scope(work) : work();
}

function output(outputs: Record<string, Tensor>, name: string): Tensor {
  const tensor = outputs[name];
  if (tensor === undefined) throw new StateError(`An op gave no output "${name}".`);
  return tensor;
}

/**
 * y = x·wᵀ + b; x [M, K], w [N, K], b [N] → [M, N]. w and b may be bf16 beside x in f32.
 */
export function linear(x: Tensor, w: Tensor, b?: Tensor): Tensor {
  return output(apply(gemm, { x, w, b }), 'y');
}

/** Root-mean-square normalization of each row of x [N, D] with weight w [D]. */
export function rmsNorm(x: Tensor, w: Tensor, eps: number): Tensor {
  return output(apply(rmsNormOp, { x, w }, { eps }), 'y');
}

/** Layer normalization of each row of x [N, D] with weight w [D] and bias b [D]. */
export function layerNorm(x: Tensor, w: Tensor, b: Tensor | undefined, eps: number): Tensor {
  return output(apply(layerNormOp, { x, w, b }, { eps }), 'y');
}

/** Rotates x [T, H, D] by angles whose cos and sin are [T, D/2]. */
export function rotary(x: Tensor, cos: Tensor, sin: Tensor): Tensor {
  return output(apply(rotaryOp, { x, cos, sin }), 'y');
}

/** silu(gate)·up, elementwise on [N, D]. */
export function swiglu(gate: Tensor, up: Tensor): Tensor {
  return output(apply(swigluOp, { gate, up }), 'y');
}

/**
 * GELU on [N, D]: exact, or with `approximate: 'tanh'` by the hyperbolic tangent, the
 * `gelu_pytorch_tanh` of model configurations.
 */
export function gelu(
  x: Tensor,
  { approximate = 'none' }: { readonly approximate?: 'none' | 'tanh' } = {},
): Tensor {
  return output(apply(geluOp, { x }, { tanh: approximate === 'tanh' ? 1 : 0 }), 'y');
}

/** a + b on [N, D]. */
export function add(a: Tensor, b: Tensor): Tensor {
  return output(apply(addOp, { a, b }), 'y');
}

/**
 * Rows of table [V, D], or for ids ≥ V of extra [E, D]; ids [N] → [N, D].
 *
 * The result has the type of extra. Without extra it has `dtype`, by default the table's: f32 where
 * the activations of a frozen table in bf16 are f32.
 */
export function embedding(
  table: Tensor,
  ids: Tensor,
  extra?: Tensor,
  { dtype = table.dtype }: { readonly dtype?: DType } = {},
): Tensor {
  return tidy(() => {
    // An array without rows still says what type the rows of the result have.
    const isOther = dtype !== table.dtype && extra === undefined;
    const rows = isOther ? zeros(table.device, dtype, [0, table.shape[1] ?? 0]) : extra;
    return output(apply(embeddingOp, { table, extra: rows, ids }), 'y');
  });
}

/** Rows index[r] of x [N, D] → [R, D]. */
export function gatherRows(x: Tensor, index: Tensor): Tensor {
  return output(apply(gatherRowsOp, { x, index }), 'y');
}

/** Writes rows x [N, D] to rows index [N] of `into` [C, D], in place. */
export function scatterRows(into: Tensor, x: Tensor, index: Tensor): void {
  apply(scatterRowsOp, { into, x, index });
}

/**
 * The topK experts of every token and their weights, from router logits [T, E].
 *
 *   weights = softmax(logits) at the experts; with `normalize` divided by their sum
 *
 * Experts come in the order of falling logits, of equal ones the lower index first. `given` [T, topK]
 * names them instead, as a trainer does that replays the routing of its sampler; a row of −1 is routed.
 *
 * @returns weights [T, topK] f32; experts [T, topK] i32, constants to the gradient
 * @throws ShapeError  if given has other columns than topK
 */
export function routeExperts(
  logits: Tensor,
  options: { readonly topK: number; readonly normalize: boolean; readonly given?: Tensor },
): { readonly weights: Tensor; readonly experts: Tensor } {
  const { topK, normalize, given } = options;
  const tokenCount = logits.shape[0] ?? 0;
  if (given !== undefined && given.shape[1] !== topK) {
    throw new ShapeError(
      `routeExperts: given is ${formatShape(given.shape)}, expected [${tokenCount}, ${topK}]. ` +
        'Pass the experts that routeExperts gave with the same topK.',
    );
  }
  return tidy(() => {
    const none = (): Tensor => {
      const routed = new Int32Array(tokenCount * topK).fill(-1);
      return tensor(logits.device, 'i32', [tokenCount, topK], routed);
    };
    const inputs = { logits, given: given ?? none() };
    const outputs = apply(routeExpertsOp, inputs, { normalize: normalize ? 1 : 0 });
    return { weights: output(outputs, 'weights'), experts: output(outputs, 'experts') };
  });
}

/** yᵣ = w[expertsᵣ]·xᵣ; x [R, K], experts [R], w [E, N, K], which may be bf16 beside x in f32. */
export function expertLinear(x: Tensor, experts: Tensor, w: Tensor): Tensor {
  return output(apply(expertLinearOp, { x, experts, w }), 'y');
}

/** yₜ = Σₖ weightsₜₖ·xₜₖ; x [T, K, D], weights [T, K] → [T, D]. */
export function weightedSum(x: Tensor, weights: Tensor): Tensor {
  return output(apply(weightedSumOp, { x, weights }), 'y');
}

/** Attention over a segment plan; q [T, H, D], k and v [T, G, D], segments [S, 3] → [T, H, D]. */
export function attention(
  q: Tensor,
  k: Tensor,
  v: Tensor,
  segments: Tensor,
  options: { readonly isCausal: boolean },
): Tensor {
  const inputs: TensorArguments = { q, k, v, segments };
  return output(apply(attentionOp, inputs, { causal: options.isCausal ? 1 : 0 }), 'out');
}

/** Attention of rows q [N, H, D] over spans of a cache [C, G, D] → [N, H, D]. */
export function attentionDecode(
  q: Tensor,
  kCache: Tensor,
  vCache: Tensor,
  spans: Tensor,
  spanOffsets: Tensor,
): Tensor {
  return output(apply(attentionDecodeOp, { q, kCache, vCache, spans, spanOffsets }), 'out');
}

/** Log-probs and entropies of targets [N] under hidden [N, D] and an LM head [V, D]. */
export function linearLogprob(
  hidden: Tensor,
  weight: Tensor,
  targets: Tensor,
  temperature: number,
): { readonly logprobs: Tensor; readonly entropy: Tensor } {
  const outputs = apply(linearLogprobOp, { hidden, weight, targets }, { temperature });
  return { logprobs: output(outputs, 'logprobs'), entropy: output(outputs, 'entropy') };
}

/** One token per row of hidden [N, D], with its exact log-prob; keys [N, 4]. */
export function linearSample(
  hidden: Tensor,
  weight: Tensor,
  keys: Tensor,
  temperature: number,
): { readonly tokens: Tensor; readonly logprobs: Tensor } {
  const outputs = apply(linearSampleOp, { hidden, weight, keys }, { temperature });
  return { tokens: output(outputs, 'tokens'), logprobs: output(outputs, 'logprobs') };
}
