/** REINFORCE weighted back to the policy that sampled. */
import type { Algorithm } from '../algorithm.ts';
import { composeAlgorithm } from '../compose.ts';
import { groupRelative, groupRelativeSettings } from '../group-relative.ts';
import { verlGroup } from '../profiles.ts';
import { truncatedReinforce } from '../surrogates/truncated-reinforce.ts';

/**
 * verl's `bypass_mode` with `loss_type: reinforce`: no log-probs from the start of the step, but the
 * truncated ratio of the current policy to the sampler, constant for the gradient. `ratio` is
 * `behavior` or `behavior-sequence`, verl's levels. verl normalizes the weights and rejects at the
 * current policy, in each micro-batch; here `rejection` compares the trainer at the start of the step
 * with the sampler, which is the same in the first update, and weights are not normalized.
 */
export const bypassReinforce: Algorithm = composeAlgorithm({
  name: 'bypass-reinforce',
  paper: 'verl, bypass_mode',
  description: 'REINFORCE with truncated ratios of the current policy to the sampler.',
  settings: { ...groupRelativeSettings, ...truncatedReinforce.settings },
  defaults: { ratio: 'behavior' },
  profiles: {
    verl: verlGroup,
  },
  choose: (settings) => ({
    ...groupRelative(settings),
    isRatioConstant: true,
    surrogate: truncatedReinforce(settings),
  }),
});
