/** KL to the reference policy taken off the rewards. */
import { ConfigError } from '@saccade/core';
import type { ScoredGroup, Step } from './algorithm.ts';
import type { GroupAdvantage, KlEstimate } from './choices.ts';
import { forEachSequence, membersByGroup, trainedCounts } from './sequences.ts';
import { tokenRewardsOf } from './token-rewards.ts';

/**
 * The step with KL taken off its rewards, and its groups' advantages made anew from them.
 *
 *   rₜ ← rₜ − klCoefficient·kl(oldLogprobsₜ, refLogprobsₜ);   R ← R − klCoefficient·Σₜ klₜ
 *
 * Ouyang et al. 2022, arXiv:2203.02155; RLOO, arXiv:2402.14740. The baselines are those of the
 * trajectories that are still in the step: KL is not known when a scheduler fixes the group's
 * advantages. An algorithm whose advantages need more of a group than rewards and lengths cannot
 * have KL in the reward.
 *
 * @throws ConfigError if the step has no oldLogprobs or refLogprobs
 */
export function withKlInReward(
  step: Step,
  kl: KlEstimate,
  klCoefficient: number,
  groupAdvantage: GroupAdvantage,
): Step {
  const { oldLogprobs, refLogprobs, lossMask, sequenceOffsets } = step;
  if (oldLogprobs === undefined || refLogprobs === undefined) {
    const missing = oldLogprobs === undefined ? 'oldLogprobs' : 'refLogprobs';
    throw new ConfigError(
      missing,
      `KL in the reward needs ${missing}, and the step has none. ` +
        'Score it with the trainer and the reference policy, or set klCoefficient to 0.',
    );
  }
  const tokenRewards = tokenRewardsOf(step);
  const rewards = Float64Array.from(step.rewards);
  forEachSequence(sequenceOffsets, (s, start, end) => {
    for (let t = start; t < end; t++) {
      if (lossMask[t] === 0) continue;
      const { value } = kl(oldLogprobs[t] as number, refLogprobs[t] as number);
      tokenRewards[t] = (tokenRewards[t] as number) - klCoefficient * value;
      rewards[s] = (rewards[s] as number) - klCoefficient * value;
    }
  });
  const lengths = trainedCounts(lossMask, sequenceOffsets);
  const sequenceAdvantages = new Float64Array(rewards.length);
  for (const members of membersByGroup(step.groups)) {
    const group: ScoredGroup = {
      rewards: Float64Array.from(members, (s) => rewards[s] as number),
      tokenCounts: members.map((s) => lengths[s] as number),
    };
    groupAdvantage(group).forEach((advantage, i) => {
      sequenceAdvantages[members[i] as number] = advantage;
    });
  }
  return { ...step, rewards, tokenRewards, sequenceAdvantages };
}
