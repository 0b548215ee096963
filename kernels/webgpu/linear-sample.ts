/**
 * Draws a token from softmax(hidden·weightᵀ/temperature) with its exact log-probability.
 *
 *   token = argmaxⱼ zⱼ + gⱼ      logprob = z_token − lse
 *
 * The Gumbel number gⱼ comes from Philox at an address of the row's own key, so a draw depends on
 * nothing around it. The fold, its tile and the sums are those of linearLogprob
 * (parts/vocabulary.ts); the thread that folds a row also compares its entries, in order. Among
 * folds the best score wins, the lowest entry on a tie.
 */

import type { KernelCall, Pass, WebGpuKernel } from './kernel.ts';
import { operand } from './parts/operands.ts';
import { LOGARITHM } from './parts/philox.ts';
import { FOLD, foldPasses, foldsOf, MERGE, MERGE_FOLDS, rowBlocks } from './parts/vocabulary.ts';
import { shader } from './shader.ts';

const mergeShader = shader({
  name: 'tokens from folds',
  arrays: {
    parts: 'read f32 vec4',
    draws: 'read i32',
    tokens: 'write i32',
    logprobs: 'write f32',
  },
  numbers: { folds: 'u32' },
  threads: [64, 1, 1],
  body: `
${LOGARITHM}
${MERGE}
${MERGE_FOLDS}

var<workgroup> best_scores: array<f32, 64>;
var<workgroup> best_tokens: array<i32, 64>;

fn wins(score: f32, token: i32, over_score: f32, over_token: i32) -> bool {
  if (token < 0) { return false; }
  if (over_token < 0 || score > over_score) { return true; }
  return score == over_score && token < over_token;
}

fn main(at: Place) {
  let n = at.group.x;
  let whole = merge_folds(n, at.index);
  var score = LEAST;
  var token = -1;
  for (var fold = at.index; fold < p.folds; fold += 64u) {
    let place = 2u * (n * p.folds + fold);
    let other = bitcast<f32>(get_draws(place));
    let other_token = get_draws(place + 1u);
    if (wins(other, other_token, score, token)) {
      score = other;
      token = other_token;
    }
  }
  best_scores[at.index] = score;
  best_tokens[at.index] = token;
  workgroupBarrier();
  if (at.index > 0u) { return; }
  for (var i = 1u; i < min(64u, p.folds); i++) {
    if (wins(best_scores[i], best_tokens[i], score, token)) {
      score = best_scores[i];
      token = best_tokens[i];
    }
  }
  let z = get_parts(n * p.folds + u32(token) / ${FOLD}u).w;
  put_tokens(n, token);
  put_logprobs(n, (z - whole.x) - natural_log(whole.y));
}`,
});

function forward(call: KernelCall): readonly Pass[] {
  const { D, V } = call.dims;
  const temperature = call.scalars.temperature;
  if (V < 1) throw new RangeError('the vocabulary is empty; there is nothing to draw.');
  if (!(temperature >= 0)) {
    throw new RangeError(`temperature is ${temperature}, expected at least 0.`);
  }
  const isGreedy = temperature === 0;
  const [hidden, weight] = [operand(call, 'hidden'), operand(call, 'weight')];
  const [keys, tokens] = [operand(call, 'keys'), operand(call, 'tokens')];
  const logprobs = operand(call, 'logprobs');
  const folds = foldsOf(V);
  const blocks = rowBlocks(call);
  const rowsMost = blocks[0]?.end ?? 0;
  const parts = call.scratch('f32', 4 * Math.max(1, rowsMost * folds));
  const draws = call.scratch('i32', 2 * Math.max(1, rowsMost * folds));
  return blocks.flatMap(({ start, end }) => {
    const rows = end - start;
    return [
      ...foldPasses(call, weight, {
        mode: isGreedy ? 'greedy' : 'draw',
        hidden: hidden.slice(start * D, end * D),
        list: keys.slice(4 * start, 4 * end),
        rows,
        parts,
        draws,
        inverse: isGreedy ? 1 : 1 / temperature,
      }),
      {
        shader: mergeShader,
        arrays: {
          parts,
          draws,
          tokens: tokens.slice(start, end),
          logprobs: logprobs.slice(start, end),
        },
        numbers: { folds },
        workgroups: [rows, 1, 1],
      },
    ];
  });
}

export const linearSample: WebGpuKernel = {
  op: 'linearSample',
  signature: 'hidden[N,D] weight[V,D]~ keys[N,Q]# -> tokens[N]# logprobs[N]! ; temperature',
  forward,
};
