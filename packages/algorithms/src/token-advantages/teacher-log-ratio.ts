/** The teacher's log-ratio as the advantage: on-policy distillation. */
import { ConfigError } from '@saccade/core';
import { quantity } from '@saccade/core/settings';
import type { TokenAdvantage } from '../choices.ts';
import { LARGEST } from '../fields.ts';
import { owning } from '../unit.ts';
import { broadcastOver } from './broadcast.ts';

/**
 * Negative reverse KL to the teacher at each sampled token, plus a share of the reward's advantage.
 *
 *   Aₜ = teacherWeight·(refLogprobsₜ − oldLogprobsₜ) + rewardWeight·A_sequence
 *
 * On-policy distillation with reverse KL: GKD, arXiv:2306.13649, and MiniLLM, arXiv:2306.08543, token by
 * token without a discount. refLogprobs are the teacher's. The mean of −(refLogprobs − oldLogprobs) over
 * tokens that the policy sampled estimates KL(policy ‖ teacher).
 *
 * @throws ConfigError if the step has no oldLogprobs or refLogprobs
 */
export const teacherLogRatio = owning(
  {
    teacherWeight: quantity({
      min: 0,
      max: LARGEST,
      default: 1,
      unit: 'factor',
      about: 'Weight of the teacher’s log-ratio in the advantage.',
    }),
    rewardWeight: quantity({
      min: 0,
      max: LARGEST,
      default: 0,
      unit: 'factor',
      about: 'Weight of the reward’s advantage beside the teacher’s log-ratio.',
    }),
  },
  makeTeacherLogRatio,
);

function makeTeacherLogRatio(options: {
  readonly teacherWeight: number;
  readonly rewardWeight: number;
}): TokenAdvantage {
  const { teacherWeight, rewardWeight } = options;
  return (step) => {
    const { oldLogprobs, refLogprobs, lossMask } = step;
    if (oldLogprobs === undefined || refLogprobs === undefined) {
      const missing = oldLogprobs === undefined ? 'oldLogprobs' : 'refLogprobs';
      throw new ConfigError(
        missing,
        `Distillation needs ${missing}, and the step has none. ` +
          'Score the sampled tokens with the trainer, and with the teacher as refLogprobs.',
      );
    }
    const advantages = broadcastOver(step, step.sequenceAdvantages);
    for (let t = 0; t < advantages.length; t++) {
      if (lossMask[t] === 0) continue;
      const lead = (refLogprobs[t] as number) - (oldLogprobs[t] as number);
      advantages[t] = teacherWeight * lead + rewardWeight * (advantages[t] as number);
    }
    return { advantages };
  };
}
