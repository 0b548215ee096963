/** REINFORCE with the greedy answer as the baseline. */
import { greedyBaseline } from '../advantages/greedy-baseline.ts';
import type { Algorithm } from '../algorithm.ts';
import { composeAlgorithm } from '../compose.ts';
import { clipSettings, gradientOrClip } from '../group-relative.ts';
import { paperNumbers, verlGroup } from '../profiles.ts';
import { sharedSettings } from '../settings.ts';

/**
 * ReMax rolls every task out once more, greedily. verl has the baseline on its clipped loss.
 */
export const remax: Algorithm = composeAlgorithm({
  name: 'remax',
  paper: 'arXiv:2310.10505',
  description: 'Rewards minus the reward of the greedy answer.',
  settings: {
    ...sharedSettings,
    ...clipSettings,
    surrogate: 'clipped',
  },
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
    needs: ['greedyReward'],
    surrogate: gradientOrClip(settings),
  }),
});
