/** Subtracts KL to the reference policy from the rewards. */
import { ConfigError } from '@saccade/core';
import type { ScoredGroup, Step } from './algorithm.ts';
import type { GroupAdvantage, KlEstimate, KlRewardMode } from './choices.ts';
import { forEachSequence, membersByGroup, trainedCounts } from './sequences.ts';
import { tokenRewardsOf } from './token-rewards.ts';

export interface KlRewardOptions {
  readonly kl: KlEstimate;
  readonly klCoefficient: number;
  readonly mode: KlRewardMode;
  readonly groupAdvantage: GroupAdvantage;
}

/**
 * The step with KL subtracted from its rewards, and the matching advantages of its groups.
 *
 *   rₜ ← rₜ − klCoefficient·kl(oldLogprobsₜ, refLogprobsₜ);   R ← R − klCoefficient·Σₜ klₜ
 *
 * Ouyang et al. 2022, arXiv:2203.02155; RLOO, arXiv:2402.14740. The baselines are those of the
 * trajectories that are still in the step: KL is not known when a scheduler fixes the group's
 * advantages. The sum is over the tokens that rejection has left, or, with `rewardMask` as in verl,
 * over those that trained before rejection.
 *
 * @throws ConfigError if the step has no oldLogprobs or refLogprobs
 */
export function withKlInReward(step: Step, options: KlRewardOptions): Step {
  const { oldLogprobs, refLogprobs, lossMask, sequenceOffsets } = step;
  if (oldLogprobs === undefined || refLogprobs === undefined) {
    const missing = oldLogprobs === undefined ? 'oldLogprobs' : 'refLogprobs';
    throw new ConfigError(
      missing,
      `KL in the reward needs ${missing}, and the step has none. ` +
        'Score it with the trainer and the reference policy, or set klCoefficient to 0.',
    );
  }
  const counted = step.rewardMask ?? lossMask;
  const tokenRewards = tokenRewardsOf(step);
  const penalties = new Float64Array(step.rewards.length);
  forEachSequence(sequenceOffsets, (s, start, end) => {
    for (let t = start; t < end; t++) {
      if (counted[t] === 0) continue;
      const { value } = options.kl(oldLogprobs[t] as number, refLogprobs[t] as number);
      const penalty = options.klCoefficient * value;
      penalties[s] = (penalties[s] as number) + penalty;
      if (lossMask[t] !== 0) tokenRewards[t] = (tokenRewards[t] as number) - penalty;
    }
  });
  const rewards = Float64Array.from(step.rewards, (reward, s) => reward - (penalties[s] as number));
  const next: Step = { ...step, rewards, tokenRewards };
  if (options.mode === 'tokens') return { ...next, rewards: step.rewards };
  const lengths = trainedCounts(lossMask, sequenceOffsets);
  const sequenceAdvantages = Float64Array.from(step.sequenceAdvantages);
  for (const members of membersByGroup(step.groups)) {
    const at = (values: Float64Array): Float64Array =>
      Float64Array.from(members, (s) => values[s] as number);
    const group: ScoredGroup = { rewards: at(rewards), tokenCounts: at(lengths) };
    const own = options.mode === 'group' ? options.groupAdvantage(group) : undefined;
    const mean = at(penalties).reduce((sum, penalty) => sum + penalty, 0) / members.length;
    members.forEach((s, i) => {
      sequenceAdvantages[s] =
        own?.[i] ?? (sequenceAdvantages[s] as number) - ((penalties[s] as number) - mean);
    });
  }
  return { ...next, sequenceAdvantages };
}
