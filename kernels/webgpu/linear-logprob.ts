/**
 * Log-probability and entropy of targets under softmax(hidden·weightᵀ/temperature), and gradients,
 * without an [N, V] array.
 *
 *   logprob = z_target − lse      lse = m + ln s      entropy = ln s − t/s
 *
 * Layout: hidden [N, D], weight [V, D], targets [N], −1 for a row to leave out: the others are
 * listed first and the tiles hold only them. The fold and its tile are in parts/vocabulary.ts. To
 * merge, a workgroup owns a row and thread i folds i, i + 64, … . The backward is in
 * linear-logprob-backward.ts.
 */

import type { KernelCall, Pass, WebGpuKernel } from './kernel.ts';
import { inverseOf, linearLogprobBackward } from './linear-logprob-backward.ts';
import { operand } from './parts/operands.ts';
import { LOGARITHM } from './parts/philox.ts';
import { rowListShader } from './parts/row-list.ts';
import { FOLD, foldPasses, foldsOf, MERGE, MERGE_FOLDS, rowBlocks } from './parts/vocabulary.ts';
import { shader } from './shader.ts';

/** Lists the rows of a block; those left out get their zeros here. */
const listShader = rowListShader({
  arrays: { logprobs: 'write f32', entropy: 'write f32', lse: 'write f32' },
  numbers: {},
  forRow: `if (!isKept) {
      put_logprobs(n, 0.0);
      put_entropy(n, 0.0);
      put_lse(n, 0.0);
    }`,
});

const mergeShader = shader({
  name: 'log-probs from folds',
  arrays: {
    parts: 'read f32 vec4',
    list: 'read i32',
    logprobs: 'write f32',
    entropy: 'write f32',
    lse: 'write f32',
  },
  numbers: { N: 'u32', folds: 'u32' },
  threads: [64, 1, 1],
  body: `
${LOGARITHM}
${MERGE}
${MERGE_FOLDS}

fn main(at: Place) {
  let position = at.group.x;
  let whole = merge_folds(position, at.index);
  if (at.index > 0u || position >= u32(get_list(2u * p.N))) { return; }
  let n = u32(get_list(position));
  let wanted = u32(get_list(p.N + position));
  let z = get_parts(position * p.folds + wanted / ${FOLD}u).w;
  let log_sum = natural_log(whole.y);
  put_logprobs(n, (z - whole.x) - log_sum);
  put_entropy(n, log_sum - whole.z / whole.y);
  put_lse(n, whole.x + log_sum);
}`,
});

function forward(call: KernelCall): readonly Pass[] {
  const { D, V } = call.dims;
  const inverse = inverseOf(call);
  const [hidden, weight] = [operand(call, 'hidden'), operand(call, 'weight')];
  const targets = operand(call, 'targets');
  const folds = foldsOf(V);
  const blocks = rowBlocks(call);
  const rowsMost = blocks[0]?.end ?? 0;
  const list = call.scratch('i32', 2 * rowsMost + 1);
  const parts = call.scratch('f32', 4 * Math.max(1, rowsMost * folds));
  const draws = call.scratch('i32', 1);
  return blocks.flatMap(({ start, end }) => {
    const rows = end - start;
    const outputs = {
      logprobs: operand(call, 'logprobs').slice(start, end),
      entropy: operand(call, 'entropy').slice(start, end),
      lse: operand(call, 'lse').slice(start, end),
    };
    return [
      {
        shader: listShader,
        arrays: { targets: targets.slice(start, end), list, ...outputs },
        numbers: { N: rows, V, firstRow: start },
        workgroups: [1, 1, 1],
      },
      ...foldPasses(call, weight, {
        mode: 'target',
        hidden: hidden.slice(start * D, end * D),
        list,
        rows,
        parts,
        draws,
        inverse,
      }),
      {
        shader: mergeShader,
        arrays: { parts, list, ...outputs },
        numbers: { N: rows, folds },
        workgroups: [folds === 0 ? 0 : rows, 1, 1],
      },
    ];
  });
}

export const linearLogprob: WebGpuKernel = {
  op: 'linearLogprob',
  signature:
    "hidden[N,D]' weight[V,D]+~ targets[N]# -> logprobs[N]'! entropy[N]'! lse[N]! ; temperature",
  forward,
  backward: linearLogprobBackward,
};
