/** PPO on trajectories whose reward is reliable. */
import { rawReward } from '../advantages/raw-reward.ts';
import type { Algorithm } from '../algorithm.ts';
import { composeAlgorithm } from '../compose.ts';
import { paperNumbers, verlNumbers } from '../profiles.ts';
import { clipped } from '../surrogates/clipped.ts';
import { gae } from '../token-advantages/gae.ts';
import { rewardWeighted } from '../token-advantages/reward-weighted.ts';
import { valueTerm } from '../value-loss.ts';

/**
 * Policy filtration: PPO that weights trajectories by the assumed reliability of their reward.
 * verl's `use_pf_ppo`, in expectation over its draws. The paper's numbers are those of its reward
 * model.
 */
export const pfPpo: Algorithm = composeAlgorithm({
  name: 'pf-ppo',
  paper: 'arXiv:2409.06957',
  description: 'PPO that weighs trajectories by a function of their reward.',
  settings: {
    ...gae.settings,
    ...rewardWeighted.settings,
    ...clipped.settings,
    ...valueTerm.settings,
  },
  profiles: {
    paper: paperNumbers,
    verl: { ...verlNumbers, dualClip: 3 },
  },
  choose: (settings) => {
    const tokenAdvantage = rewardWeighted(gae(settings), settings);
    return {
      groupAdvantage: rawReward(),
      tokenAdvantage,
      klReward: 'tokens',
      surrogate: clipped(settings),
      needs: ['values'],
      value: valueTerm(settings),
    };
  },
});
