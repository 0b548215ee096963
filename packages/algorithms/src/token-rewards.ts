/** Places a trajectory's reward on its tokens. */
import { choice } from '@saccade/core/settings';
import type { Step } from './algorithm.ts';
import { forEachSequence } from './sequences.ts';

/** A field of every unit that reads token rewards. */
export const rewardPlacement = choice(['kept', 'all'], {
  default: 'kept',
  about:
    'The tokens that carry a sequence’s reward and its KL penalty: those that rejection kept, or ' +
    'all that trained before it, where the share of rejected tokens is lost.',
});

/**
 * [N] the step's token rewards, or each sequence's reward at its last token that trains; 0 where the
 * mask is 0. With `rewardMask` the reward is placed before rejection: if that token was rejected, the
 * reward is lost.
 */
export function tokenRewardsOf(step: Step): Float64Array {
  const { lossMask, sequenceOffsets, rewards, tokenRewards } = step;
  const placing = step.rewardMask ?? lossMask;
  if (tokenRewards) return Float64Array.from(tokenRewards, (r, t) => (lossMask[t] === 0 ? 0 : r));
  const placed = new Float64Array(lossMask.length);
  forEachSequence(sequenceOffsets, (s, start, end) => {
    let last = end - 1;
    while (last >= start && placing[last] === 0) last--;
    if (last >= start && lossMask[last] !== 0) placed[last] = rewards[s] as number;
  });
  return placed;
}

/**
 * [N] discounted sum of the rewards from each token on. Tokens that do not train pass it on
 * undiscounted and have none themselves.
 */
export function returnsToGo(step: Step, gamma: number): Float64Array {
  const rewards = tokenRewardsOf(step);
  const returns = new Float64Array(rewards.length);
  forEachSequence(step.sequenceOffsets, (_, start, end) => {
    let running = 0;
    for (let t = end - 1; t >= start; t--) {
      if (step.lossMask[t] === 0) continue;
      running = (rewards[t] as number) + gamma * running;
      returns[t] = running;
    }
  });
  return returns;
}
