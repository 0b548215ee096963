/** Drops tokens of negative advantage in sequences that the policy has moved away from. */
import { quantity } from '@saccade/core/settings';
import type { Selector } from '../choices.ts';
import { LARGEST } from '../fields.ts';
import { mark } from '../marks.ts';
import { forEachSequence, trainedIn } from '../sequences.ts';
import { owning } from '../unit.ts';

/**
 * Marks tokens whose advantage is negative in sequences that drifted too far from the sampler.
 *
 *   KL_s = mean over the sequence's trained tokens of (rolloutLogprobsₜ − logprobsₜ)
 *   dropped = { t : Aₜ < 0, KL_s > offPolicyThreshold }
 *
 * Off-policy sequence masking, DeepSeek-V3.2, arXiv:2512.02556; TRL's `off_policy_mask_threshold`.
 * Without rolloutLogprobs the log-probs at the start of the step take their place. Dropped tokens have
 * no surrogate loss, but stay in the loss's denominator and keep their KL and entropy terms.
 */
export const offPolicySequences = owning(
  {
    offPolicyThreshold: quantity({
      min: 0,
      max: LARGEST,
      default: 0,
      unit: 'nats',
      about:
        'Mean divergence from the sampler above which a sequence’s tokens of negative advantage ' +
        'are dropped; 0 disables it.',
    }),
  },
  makeOffPolicySequences,
);

function makeOffPolicySequences(options: { readonly offPolicyThreshold: number }): Selector {
  return (minibatch, marks) => {
    const { logprobs, oldLogprobs, rolloutLogprobs, advantages, lossMask } = minibatch;
    const sampled = rolloutLogprobs ?? oldLogprobs;
    forEachSequence(minibatch.sequenceOffsets, (_, start, end) => {
      let sum = 0;
      for (let t = start; t < end; t++) {
        if (lossMask[t] !== 0) sum += (sampled[t] as number) - (logprobs[t] as number);
      }
      const mean = sum / Math.max(trainedIn(lossMask, start, end), 1);
      if (mean <= options.offPolicyThreshold) return;
      for (let t = start; t < end; t++) {
        if (lossMask[t] === 0 || (advantages[t] as number) >= 0) continue;
        marks[t] = (marks[t] as number) | mark.offPolicy;
      }
    });
  };
}
