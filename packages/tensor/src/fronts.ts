/** Typed functions over the ops: argument names and shapes, no formulas. */
import {
  attentionDecode as attentionDecodeOp,
  attentionDecodeWide as attentionDecodeWideOp,
  attention as attentionOp,
  cacheRows as cacheRowsOp,
} from '@saccade/attention';
import { formatShape, ShapeError } from '@saccade/core';
import {
  linearLogprob as linearLogprobOp,
  linearSample as linearSampleOp,
  linearSampleTruncated as linearSampleTruncatedOp,
} from '@saccade/logprob';
import {
  add as addOp,
  embedding as embeddingOp,
  expertLinear as expertLinearOp,
  gatherRows as gatherRowsOp,
  gelu as geluOp,
  gemm,
  gemmQuantized,
  layerNorm as layerNormOp,
  quantizeWeight as quantizeWeightOp,
  rmsNorm as rmsNormOp,
  rotary as rotaryOp,
  routeExperts as routeExpertsOp,
  scaleColumns as scaleColumnsOp,
  scatterRows as scatterRowsOp,
  swiglu as swigluOp,
  weightedSum as weightedSumOp,
} from '@saccade/ops';
import { apply } from './apply.ts';
import { scope, tensor } from './scope.ts';
import { recordingTape } from './tape.ts';
import type { Tensor } from './tensor.ts';

/** y = x·wᵀ + b; x [M, K], w [N, K], b [N] → [M, N]. */
export function linear(x: Tensor, w: Tensor, b?: Tensor): Tensor {
  return apply(gemm, { x, w, b }).y;
}

/**
 * y = x·wᵀ + b with a weight that `quantizeWeight` wrote; x [M, K], b [N] → [M, N]. Without gradients:
 * it is for sampling.
 */
export function linearQuantized(x: Tensor, codes: Tensor, scales: Tensor, b?: Tensor): Tensor {
  return apply(gemmQuantized, { x, codes, scales, b }).y;
}

/** Writes codes [P, W, 16] and scales [S, N] of a weight [N, K]. */
export function quantizeWeight(w: Tensor, codes: Tensor, scales: Tensor): void {
  apply(quantizeWeightOp, { w, codes, scales });
}

/** Root-mean-square normalization of each row of x [N, D] with weight w [D]. */
export function rmsNorm(x: Tensor, w: Tensor, eps: number): Tensor {
  return apply(rmsNormOp, { x, w }, { eps }).y;
}

/** Layer normalization of each row of x [N, D] with weight w [D] and bias b [D]. */
export function layerNorm(x: Tensor, w: Tensor, b: Tensor | undefined, eps: number): Tensor {
  return apply(layerNormOp, { x, w, b }, { eps }).y;
}

/** Rotates x [T, H, D] by angles whose cos and sin are [T, D/2]. */
export function rotary(x: Tensor, cos: Tensor, sin: Tensor): Tensor {
  return apply(rotaryOp, { x, cos, sin }).y;
}

/** silu(gate)·up, elementwise on [N, D]. */
export function swiglu(gate: Tensor, up: Tensor): Tensor {
  return apply(swigluOp, { gate, up }).y;
}

/**
 * GELU on [N, D]: exact, or with `approximate: 'tanh'` by the hyperbolic tangent, the
 * `gelu_pytorch_tanh` of model configurations.
 */
export function gelu(
  x: Tensor,
  { approximate = 'none' }: { readonly approximate?: 'none' | 'tanh' } = {},
): Tensor {
  return apply(geluOp, { x }, { tanh: approximate === 'tanh' ? 1 : 0 }).y;
}

/** a + b on [N, D]. */
export function add(a: Tensor, b: Tensor): Tensor {
  return apply(addOp, { a, b }).y;
}

/** Rows of table [V, D], or for ids ≥ V of extra [E, D]; ids [N] → [N, D]. */
export function embedding(table: Tensor, ids: Tensor, extra?: Tensor): Tensor {
  return apply(embeddingOp, { table, extra, ids }).y;
}

/** Rows index[r] of x [N, D] → [R, D]. */
export function gatherRows(x: Tensor, index: Tensor): Tensor {
  return apply(gatherRowsOp, { x, index }).y;
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
 * @throws ShapeError  if given has other columns than topK, or topK is more than E
 */
export function routeExperts(
  logits: Tensor,
  options: { readonly topK: number; readonly normalize: boolean; readonly given?: Tensor },
): { readonly weights: Tensor; readonly experts: Tensor } {
  const { topK, normalize, given } = options;
  const shape = [logits.shape[0] ?? 0, topK];
  if (given !== undefined && given.shape[1] !== topK) {
    throw new ShapeError(
      `routeExperts: given is ${formatShape(given.shape)}, expected ${formatShape(shape)}. ` +
        'Pass the experts that routeExperts gave with the same topK.',
    );
  }
  const route = () => {
    const routed = new Int32Array(given === undefined ? shape[0] * topK : 0).fill(-1);
    const inputs = { logits, given: given ?? tensor(logits.device, 'i32', shape, routed) };
    const outputs = apply(routeExpertsOp, inputs, { normalize: normalize ? 1 : 0 });
    return { weights: outputs.weights, experts: outputs.experts };
  };
  // A tape keeps the list for its backward; else it is freed here.
  return recordingTape() === undefined ? scope(route) : route();
}

/** yᵣ = w[expertsᵣ]·xᵣ; x [R, K], experts [R], w [E, N, K] → [R, N]. */
export function expertLinear(x: Tensor, experts: Tensor, w: Tensor): Tensor {
  return apply(expertLinearOp, { x, experts, w }).y;
}

/** x∘w, column by column; x [N, D], w [D] → [N, D]. */
export function scaleColumns(x: Tensor, w: Tensor): Tensor {
  return apply(scaleColumnsOp, { x, w }).y;
}

/** Sums of rows over K, each with its weight; x [N, K, D], w [N, K] → [N, D]. */
export function weightedSum(x: Tensor, w: Tensor): Tensor {
  return apply(weightedSumOp, { x, w }).y;
}

/** Writes rows x [N, D] to rows index [N] of `into` [C, D], in place. */
export function scatterRows(into: Tensor, x: Tensor, index: Tensor): void {
  apply(scatterRowsOp, { into, x, index });
}

/** Attention over a segment plan; q [T, H, D], k and v [T, G, D], segments [S, 3] → [T, H, D]. */
export function attention(
  q: Tensor,
  k: Tensor,
  v: Tensor,
  segments: Tensor,
  options: { readonly isCausal: boolean },
): Tensor {
  return apply(attentionOp, { q, k, v, segments }, { causal: options.isCausal ? 1 : 0 }).out;
}

/** Attention of rows q [N, H, D] over spans of a cache [C, G, D] → [N, H, D]. */
export function attentionDecode(
  q: Tensor,
  kCache: Tensor,
  vCache: Tensor,
  spans: Tensor,
  spanOffsets: Tensor,
): Tensor {
  return apply(attentionDecodeOp, { q, kCache, vCache, spans, spanOffsets }).out;
}

/** Attention of float32 rows q [N, H, D] over spans of a cache [C, G, D] of any storage. */
export function attentionDecodeWide(
  q: Tensor,
  kCache: Tensor,
  vCache: Tensor,
  spans: Tensor,
  spanOffsets: Tensor,
): Tensor {
  return apply(attentionDecodeWideOp, { q, kCache, vCache, spans, spanOffsets }).out;
}

/** Writes float32 rows x [N, D] to rows index [N] of `into` [C, D], in place, in its storage. */
export function cacheRows(into: Tensor, x: Tensor, index: Tensor): void {
  apply(cacheRowsOp, { into, x, index });
}

/** Log-probs and entropies of targets [N] under hidden [N, D] and an LM head [V, D]. */
export function linearLogprob(
  hidden: Tensor,
  weight: Tensor,
  targets: Tensor,
  temperature: number,
): { readonly logprobs: Tensor; readonly entropy: Tensor } {
  const outputs = apply(linearLogprobOp, { hidden, weight, targets }, { temperature });
  return { logprobs: outputs.logprobs, entropy: outputs.entropy };
}

/** One token per row of hidden [N, D], with its exact log-prob; keys [N, 4]. */
export function linearSample(
  hidden: Tensor,
  weight: Tensor,
  keys: Tensor,
  temperature: number,
): { readonly tokens: Tensor; readonly logprobs: Tensor } {
  const outputs = apply(linearSampleOp, { hidden, weight, keys }, { temperature });
  return { tokens: outputs.tokens, logprobs: outputs.logprobs };
}

/**
 * One token per row of the most likely ones, with its exact log-prob among them, and the probability
 * of these before truncation; see `linearSampleTruncated` of `@saccade/logprob`.
 */
export function linearSampleTruncated(
  hidden: Tensor,
  weight: Tensor,
  keys: Tensor,
  filters: {
    readonly temperature: number;
    readonly topK: number;
    readonly topP: number;
    readonly minP: number;
  },
): { readonly tokens: Tensor; readonly logprobs: Tensor; readonly keptMass: Tensor } {
  const { temperature, topK, topP, minP } = filters;
  const scalars = { temperature, topK, topP, minP };
  const outputs = apply(linearSampleTruncatedOp, { hidden, weight, keys }, scalars);
  return {
    tokens: outputs.tokens,
    logprobs: outputs.logprobs,
    keptMass: outputs.keptMass,
  };
}
