/**
 * weights = softmax(logits) at the K experts with the largest logits, or at given ones; with the
 * scalar normalize ≠ 0 divided by their sum; and the gradient of the logits.
 *
 * logits [T, E]; given, weights, experts [T, K]. A workgroup of 64 threads owns a token; a thread
 * takes every 64th logit. Experts are chosen one after the other: the first of the largest that come
 * after the one before, in the order of falling logits and rising index.
 */

import type { GpuArray, KernelCall, Pass, WebGpuKernel } from './kernel.ts';
import { foldGroups } from './parts/fold-groups.ts';
import { operand } from './parts/operands.ts';
import { pieces, rowsPerBinding } from './parts/slices.ts';
import { workgroupSum } from './parts/workgroup-sum.ts';
import { zeroAll } from './parts/zero.ts';
import { shader } from './shader.ts';

const THREADS = 64;

const numbers = {
  T: 'u32',
  E: 'u32',
  K: 'u32',
  normalize: 'u32',
  firstGiven: 'u32',
  across: 'u32',
} as const;

const begin = `
  let t = group.y * p.across + group.x;
  if (t >= p.T) { return; }
  let row = t * p.E;
  let first = t * p.K;`;

/** WGSL of `most_of_row(row, index)`: the largest logit of a token, for all threads. */
const largest = `
var<workgroup> mosts: array<f32, ${THREADS}>;

fn most_of_row(row: u32, index: u32) -> f32 {
  var most = get_logits(row);
  for (var e = index; e < p.E; e += ${THREADS}u) { most = max(most, get_logits(row + e)); }
  workgroupBarrier();
  mosts[index] = most;
  workgroupBarrier();
  for (var span = ${THREADS / 2}u; span > 0u; span >>= 1u) {
    if (index < span) { mosts[index] = max(mosts[index], mosts[index + span]); }
    workgroupBarrier();
  }
  return mosts[0];
}

fn sum_of_row(row: u32, most: f32, index: u32) -> f32 {
  var sum = 0.0;
  for (var e = index; e < p.E; e += ${THREADS}u) { sum += exp(get_logits(row + e) - most); }
  return workgroup_sum(sum, index);
}`;

const routeShader = shader({
  name: 'route experts',
  arrays: {
    logits: 'read stored',
    given: 'read i32',
    weights: 'write f32',
    experts: 'write i32',
  },
  numbers,
  threads: [THREADS, 1, 1],
  failures: [
    'given[{index}] is {value}; expected at least 0 and below {E}, or -1 in all of a row. ' +
      'Check the indices.',
  ],
  body: `${workgroupSum(THREADS)}
${largest}
var<workgroup> best_logits: array<f32, ${THREADS}>;
var<workgroup> best_experts: array<u32, ${THREADS}>;

// Whether logit a of expert i stands before logit b of expert j; expert E is none.
fn is_before(a: f32, i: u32, b: f32, j: u32) -> bool {
  if (i >= p.E || j >= p.E) { return i < p.E; }
  return a > b || (a == b && i < j);
}

// The first expert after the last, which is none at first; for all threads.
fn next_expert(row: u32, last: u32, index: u32) -> u32 {
  let last_logit = get_logits(row + min(last, p.E - 1u));
  var logit = 0.0;
  var expert = p.E;
  for (var e = index; e < p.E; e += ${THREADS}u) {
    let own = get_logits(row + e);
    let isLeft = last >= p.E || is_before(last_logit, last, own, e);
    if (isLeft && is_before(own, e, logit, expert)) {
      logit = own;
      expert = e;
    }
  }
  workgroupBarrier();
  best_logits[index] = logit;
  best_experts[index] = expert;
  workgroupBarrier();
  for (var span = ${THREADS / 2}u; span > 0u; span >>= 1u) {
    if (index < span) {
      let other = best_logits[index + span];
      let place = best_experts[index + span];
      if (is_before(other, place, best_logits[index], best_experts[index])) {
        best_logits[index] = other;
        best_experts[index] = place;
      }
    }
    workgroupBarrier();
  }
  return best_experts[0];
}

fn main(at: Place, group: vec3<u32>) {${begin}
  let isRouted = get_given(first) == -1;
  var last = p.E;
  for (var k = 0u; k < p.K; k++) {
    let wanted = get_given(first + k);
    let isWrong = select(wanted < 0 || wanted >= i32(p.E), wanted != -1, isRouted);
    if (isWrong && at.index == 0u) { fail(0u, p.firstGiven + first + k, wanted); }
    var chosen = select(u32(wanted), 0u, isWrong || isRouted);
    if (isRouted) {
      last = next_expert(row, last, at.index);
      // Logits without an order, as NaN has none: any expert does.
      chosen = select(k, last, last < p.E);
    }
    if (at.index == 0u) { put_experts(first + k, i32(chosen)); }
  }
  if (p.normalize == 0u) {
    let most = most_of_row(row, at.index);
    let sum = sum_of_row(row, most, at.index);
    if (at.index == 0u) {
      for (var k = 0u; k < p.K; k++) {
        put_weights(first + k, exp(get_logits(row + u32(get_experts(first + k))) - most) / sum);
      }
    }
    return;
  }
  if (at.index > 0u) { return; }
  var most = get_logits(row + u32(get_experts(first)));
  for (var k = 1u; k < p.K; k++) {
    most = max(most, get_logits(row + u32(get_experts(first + k))));
  }
  var sum = 0.0;
  for (var k = 0u; k < p.K; k++) {
    sum += exp(get_logits(row + u32(get_experts(first + k))) - most);
  }
  for (var k = 0u; k < p.K; k++) {
    put_weights(first + k, exp(get_logits(row + u32(get_experts(first + k))) - most) / sum);
  }
}`,
});

const gradientShader = shader({
  name: 'route experts backward',
  arrays: {
    dWeights: 'read f32',
    logits: 'read stored',
    weights: 'read f32',
    experts: 'read i32',
    dLogits: 'write stored',
  },
  numbers,
  threads: [THREADS, 1, 1],
  body: `${workgroupSum(THREADS)}
${largest}
fn main(at: Place, group: vec3<u32>) {${begin}
  var dot = 0.0;
  for (var k = first; k < first + p.K; k++) { dot = fma(get_weights(k), get_dWeights(k), dot); }
  var most = 0.0;
  var sum = 1.0;
  if (p.normalize == 0u) {
    most = most_of_row(row, at.index);
    sum = sum_of_row(row, most, at.index);
  }
  for (var e = at.index; e < p.E; e += ${THREADS}u) {
    var gradient = 0.0;
    if (p.normalize == 0u) { gradient = exp(get_logits(row + e) - most) * (-dot / sum); }
    let pull = select(dot, 0.0, p.normalize == 0u);
    for (var k = first; k < first + p.K; k++) {
      if (get_experts(k) == i32(e)) { gradient += get_weights(k) * (get_dWeights(k) - pull); }
    }
    put_dLogits(row + e, gradient);
  }
}`,
});

/** One pass for each slice of tokens that can be bound; arrays by name with their row's width. */
function overTokens(
  call: KernelCall,
  made: Pass['shader'],
  arrays: Readonly<Record<string, readonly [array: GpuArray, width: number]>>,
): readonly Pass[] {
  const { T, E, K } = call.dims;
  return pieces(T, rowsPerBinding(call, 4 * E, 1)).map(({ start, end }) => {
    const { workgroups, across } = foldGroups(end - start, call.limits);
    return {
      shader: made,
      arrays: Object.fromEntries(
        Object.entries(arrays).map(([name, [array, width]]) => [
          name,
          array.slice(start * width, end * width),
        ]),
      ),
      numbers: {
        T: end - start,
        E,
        K,
        normalize: call.scalars.normalize === 0 ? 0 : 1,
        firstGiven: start * K,
        across,
      },
      workgroups,
    };
  });
}

/** @throws RangeError if more experts are wanted than there are */
function checkCount({ dims: { E, K } }: KernelCall): void {
  if (K > E) throw new RangeError(`${K} experts are wanted of ${E}. Pass fewer.`);
}

export const routeExperts: WebGpuKernel = {
  op: 'routeExperts',
  signature: "logits[T,E]' given[T,K]# -> weights[T,K]'! experts[T,K]# ; normalize",
  forward: (call) => {
    const { E, K } = call.dims;
    checkCount(call);
    if (K === 0) return [];
    return overTokens(call, routeShader, {
      logits: [operand(call, 'logits'), E],
      given: [operand(call, 'given'), K],
      weights: [operand(call, 'weights'), K],
      experts: [operand(call, 'experts'), K],
    });
  },
  backward: (call) => {
    const { E, K } = call.dims;
    const { dWeights, dLogits } = call.arrays;
    checkCount(call);
    if (dLogits === undefined) return [];
    if (dWeights === undefined || K === 0) return zeroAll(call, dLogits);
    return overTokens(call, gradientShader, {
      dWeights: [dWeights, K],
      logits: [operand(call, 'logits'), E],
      weights: [operand(call, 'weights'), K],
      experts: [operand(call, 'experts'), K],
      dLogits: [dLogits, E],
    });
  },
};
