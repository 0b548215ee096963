/**
 * Draws a token from the most likely ones of softmax(hidden·weightᵀ/temperature), with its exact
 * log-probability among them.
 *
 * The fold and its tile are those of linearLogprob (parts/vocabulary.ts), which here keeps the
 * logits of a block of rows, as many as one binding holds, but at least 128: in WebGPU's default of
 * 128 MiB, those of 262,144 entries. Then one workgroup a row finds the threshold, two bits at a time
 * from the highest on, and folds and compares the entries above it: thread i folds i, i + 64, …, in
 * the order of linearSample. Probabilities are added as integers of two words, which gives the same
 * sum in any order.
 */

import type { KernelCall, Pass, WebGpuKernel } from './kernel.ts';
import { operand } from './parts/operands.ts';
import { LOGARITHM, PHILOX } from './parts/philox.ts';
import {
  AT_ONCE,
  FOLD,
  foldPasses,
  foldRun,
  foldsOf,
  MERGE,
  MERGE_FOLDS,
  rowBlocks,
} from './parts/vocabulary.ts';
import { shader } from './shader.ts';

const THREADS = 64;
/** Candidates for the next two bits of a threshold, besides 0. */
const PROBES = 3;

const drawShader = shader({
  name: 'tokens of the most likely',
  arrays: {
    logits: 'read f32 vec4',
    parts: 'read f32 vec4',
    keys: 'read i32',
    tokens: 'write i32',
    logprobs: 'write f32',
    keptMass: 'write f32',
  },
  numbers: { V: 'u32', folds: 'u32', topK: 'u32', topP: 'f32', logMinP: 'f32' },
  threads: [THREADS, 1, 1],
  body: `
${PHILOX}
${LOGARITHM}
${MERGE}
${MERGE_FOLDS}

var<workgroup> best_scores: array<f32, ${THREADS}>;
var<workgroup> best_logits: array<f32, ${THREADS}>;
var<workgroup> best_tokens: array<i32, ${THREADS}>;
var<workgroup> sums: array<vec2<u32>, ${THREADS * PROBES}>;

fn wins(score: f32, token: i32, over_score: f32, over_token: i32) -> bool {
  if (token < 0) { return false; }
  if (over_token < 0 || score > over_score) { return true; }
  return score == over_score && token < over_token;
}

// As unsigned integers, orders are in the order of the logits. −0 counts as 0.
fn order_of(z: f32) -> u32 {
  let bits = bitcast<u32>(select(z, 0.0, z == 0.0));
  return select(bits | 0x80000000u, ~bits, bits >= 0x80000000u);
}

fn orders_of(z: vec4<f32>) -> vec4<u32> {
  return vec4<u32>(order_of(z.x), order_of(z.y), order_of(z.z), order_of(z.w));
}

// Sums of two words: multiples of 2²⁴, and what is left.
fn add(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let low = a.y + b.y;
  return vec2<u32>(a.x + b.x + (low >> 24u), low & 0xffffffu);
}

fn reaches(sum: vec2<u32>, needed: vec2<u32>) -> bool {
  return sum.x > needed.x || (sum.x == needed.x && sum.y >= needed.y);
}

// exp(z − highest) in units of 2⁻³⁶, or 1.
fn weight_of(z: f32, highest: f32, by_mass: bool) -> vec2<u32> {
  if (!by_mass) { return vec2<u32>(0u, 1u); }
  let scaled = 4096.0 * exp(max(z - highest, -200.0));
  let whole = floor(scaled);
  return vec2<u32>(u32(whole), u32(16777216.0 * (scaled - whole)));
}

// The weight of the entries from each of three orders on, in all threads.
fn weigh(first: u32, thread: u32, from_orders: vec3<u32>, highest: f32, by_mass: bool)
    -> array<vec2<u32>, ${PROBES}> {
  var own = array<vec2<u32>, ${PROBES}>();
  for (var group = thread; group < (p.V + 3u) / 4u; group += ${THREADS}u) {
    let z = get_logits(first + group);
    let orders = orders_of(z);
    for (var i = 0u; i < min(4u, p.V - 4u * group); i++) {
      if (orders[i] < from_orders.x) { continue; }
      let weight = weight_of(z[i], highest, by_mass);
      own[0] = add(own[0], weight);
      if (orders[i] >= from_orders.y) { own[1] = add(own[1], weight); }
      if (orders[i] >= from_orders.z) { own[2] = add(own[2], weight); }
    }
  }
  workgroupBarrier();
  for (var i = 0u; i < ${PROBES}u; i++) { sums[${PROBES}u * thread + i] = own[i]; }
  workgroupBarrier();
  for (var step = ${THREADS / 2}u; step > 0u; step >>= 1u) {
    if (thread < step) {
      for (var i = 0u; i < ${PROBES}u; i++) {
        let at = ${PROBES}u * thread + i;
        sums[at] = add(sums[at], sums[at + ${PROBES}u * step]);
      }
    }
    workgroupBarrier();
  }
  return array<vec2<u32>, ${PROBES}>(sums[0], sums[1], sums[2]);
}

// The largest order for which the entries of this order or more weigh 'needed'; all of them do.
fn threshold_of(first: u32, thread: u32, highest: f32, by_mass: bool, needed: vec2<u32>) -> u32 {
  var threshold = 0u;
  for (var bits = 0u; bits < 32u; bits += 2u) {
    let shift = 30u - bits;
    let probes = vec3<u32>(threshold) | (vec3<u32>(1u, 2u, 3u) << vec3<u32>(shift));
    let weights = weigh(first, thread, probes, highest, by_mass);
    var digit = 0u;
    for (var i = 0u; i < ${PROBES}u; i++) {
      if (reaches(weights[i], needed)) { digit = i + 1u; }
    }
    threshold |= digit << shift;
  }
  return threshold;
}

// topP of a mass, not less than one unit and not more than all of it.
fn share_of(mass: vec2<u32>) -> vec2<u32> {
  let wanted = p.topP * (16777216.0 * f32(mass.x) + f32(mass.y));
  let high = floor(wanted / 16777216.0);
  let share = vec2<u32>(u32(high), u32(wanted - 16777216.0 * high));
  if (reaches(share, mass)) { return mass; }
  return max(share, vec2<u32>(0u, select(0u, 1u, share.x == 0u)));
}

fn main(at: Place, group: vec3<u32>) {
  let n = group.x;
  let first = n * p.folds * ${FOLD / 4}u;
  let whole = merge_folds(n, at.index);
  let highest = whole.x;
  var threshold = 0u;
  if (p.topK > 0u) {
    let needed = vec2<u32>(p.topK >> 24u, p.topK & 0xffffffu);
    threshold = threshold_of(first, at.index, highest, false, needed);
  }
  if (p.topP < 1.0) {
    let mass = weigh(first, at.index, vec3<u32>(threshold), highest, true);
    threshold = threshold_of(first, at.index, highest, true, share_of(mass[0]));
  }
  let by_ratio = highest + p.logMinP;

  let key = bitcast<vec4<u32>>(vec4<i32>(get_keys(4u * n), get_keys(4u * n + 1u),
    get_keys(4u * n + 2u), get_keys(4u * n + 3u)));
  let lanes = vec4<u32>(0u, 1u, 2u, 3u);
  var kept = EMPTY;
  var score = LEAST;
  var logit = get_logits(first).x;
  var token = -1;
  for (var fold = at.index; fold < p.folds; fold += ${THREADS}u) {
    var part = EMPTY;
    let end = min(p.V, (fold + 1u) * ${FOLD}u);
    for (var entry = fold * ${FOLD}u; entry < end; entry += ${AT_ONCE}u) {
      let groups = (min(${AT_ONCE}u, end - entry) + 3u) / 4u;
      let place = first + entry / 4u;
      var isKept: array<vec4<bool>, ${AT_ONCE / 4}>;
      for (var j = 0u; j < groups; j++) {
        let z = get_logits(place + j);
        isKept[j] = (lanes + vec4<u32>(entry + 4u * j) < vec4<u32>(end)) &
          (orders_of(z) >= vec4<u32>(threshold)) & (z >= vec4<f32>(by_ratio));
      }
      ${foldRun('part', 'get_logits(place + j)', 'isKept[j]')}
      for (var j = 0u; j < groups; j++) {
        if (!any(isKept[j])) { continue; }
        let words = philox(vec4<u32>(entry / 4u + j, key.zw, 0u), key.xy);
        let z = get_logits(place + j);
        for (var i = 0u; i < 4u; i++) {
          if (!isKept[j][i]) { continue; }
          let own = z[i] + gumbel(words[i]);
          let other = i32(entry + 4u * j + i);
          if (!wins(own, other, score, token)) { continue; }
          score = own;
          logit = z[i];
          token = other;
        }
      }
    }
    kept = merge(kept, part);
  }
  best_scores[at.index] = score;
  best_logits[at.index] = logit;
  best_tokens[at.index] = token;
  workgroupBarrier();
  let all = merge_threads(kept, at.index);
  if (at.index > 0u) { return; }
  for (var i = 1u; i < min(${THREADS}u, p.folds); i++) {
    if (wins(best_scores[i], best_tokens[i], score, token)) {
      score = best_scores[i];
      logit = best_logits[i];
      token = best_tokens[i];
    }
  }
  put_tokens(n, max(token, 0));
  put_logprobs(n, (logit - all.x) - natural_log(all.y));
  put_keptMass(n, min(1.0, all.y / whole.y));
}`,
});

function forward(call: KernelCall): readonly Pass[] {
  const { D, V } = call.dims;
  const { temperature, topK, topP, minP } = call.scalars as Record<string, number>;
  if (V < 1) throw new RangeError('the vocabulary is empty; there is nothing to draw.');
  if (!(temperature > 0)) {
    throw new RangeError(
      `temperature is ${temperature}, expected more than 0. Take linearSample for 0.`,
    );
  }
  if (!(Number.isInteger(topK) && topK >= 0)) {
    throw new RangeError(`topK is ${topK}, expected a whole number of at least 0.`);
  }
  if (!(topP > 0 && topP <= 1)) {
    throw new RangeError(`topP is ${topP}, expected more than 0 and at most 1.`);
  }
  if (!(minP >= 0 && minP <= 1)) {
    throw new RangeError(`minP is ${minP}, expected at least 0 and at most 1.`);
  }
  const [hidden, weight] = [operand(call, 'hidden'), operand(call, 'weight')];
  const [keys, tokens] = [operand(call, 'keys'), operand(call, 'tokens')];
  const [logprobs, keptMass] = [operand(call, 'logprobs'), operand(call, 'keptMass')];
  const folds = foldsOf(V);
  const blocks = rowBlocks(call, 4 * folds * FOLD);
  const rowsMost = blocks[0]?.end ?? 0;
  const parts = call.scratch('f32', 4 * Math.max(1, rowsMost * folds));
  const logits = call.scratch('f32', Math.max(1, rowsMost * folds * FOLD));
  return blocks.flatMap(({ start, end }) => {
    const rows = end - start;
    const own = keys.slice(4 * start, 4 * end);
    return [
      ...foldPasses(call, weight, {
        mode: 'keep',
        hidden: hidden.slice(start * D, end * D),
        list: own,
        rows,
        parts,
        draws: logits,
        inverse: 1 / temperature,
      }),
      {
        shader: drawShader,
        arrays: {
          logits,
          parts,
          keys: own,
          tokens: tokens.slice(start, end),
          logprobs: logprobs.slice(start, end),
          keptMass: keptMass.slice(start, end),
        },
        numbers: {
          V,
          folds,
          topK: topK < V ? topK : 0,
          topP,
          // A finite number: all are kept.
          logMinP: minP === 0 ? -3e38 : Math.log(minP),
        },
        workgroups: [rows, 1, 1],
      },
    ];
  });
}

export const linearSampleTruncated: WebGpuKernel = {
  op: 'linearSampleTruncated',
  signature:
    'hidden[N,D] weight[V,D] keys[N,Q]# -> tokens[N]# logprobs[N]! keptMass[N]! ; ' +
    'temperature topK topP minP',
  forward,
};
