/** REINFORCE with the greedy answer as the baseline. */
import { greedyBaseline } from '../advantages/greedy-baseline.ts';
import type { Algorithm } from '../algorithm.ts';
import { composeAlgorithm } from '../compose.ts';
import { gradientOrClip, gradientOrClipSettings } from '../group-relative.ts';
import { paperNumbers, verlGroup } from '../profiles.ts';
import { baselineReturns } from '../token-advantages/baseline-returns.ts';

/**
 * ReMax rolls every task out once more, greedily. verl has the baseline on its clipped loss. With KL in
 * the reward each token's advantage is its return from there on, minus the greedy answer's reward.
 */
export const remax: Algorithm = composeAlgorithm({
  name: 'remax',
  paper: 'arXiv:2310.10505',
  description: 'Rewards minus the reward of the greedy answer.',
  settings: { ...gradientOrClipSettings },
  profiles: {
    paper: {
      ...paperNumbers,
      surrogate: 'log-probability',
      aggregation: 'sequence-mean-token-sum',
    },
    verl: verlGroup,
  },
  choose: (settings) => ({
    groupAdvantage: greedyBaseline(),
    klReward: 'tokens',
    klTokenAdvantage: baselineReturns(),
    needs: ['greedyReward'],
    surrogate: gradientOrClip(settings),
  }),
});
