/** REINFORCE with the batch as the baseline. */
import { rawReward } from '../advantages/raw-reward.ts';
import type { Algorithm } from '../algorithm.ts';
import { composeAlgorithm } from '../compose.ts';
import { paperNumbers, verlNumbers } from '../profiles.ts';
import { clipped } from '../surrogates/clipped.ts';
import { returnToGo } from '../token-advantages/return-to-go.ts';

/**
 * REINFORCE++ whitens returns over the whole batch and subtracts KL from the reward (k1); the paper
 * does not depend on groups. verl's `reinforce_plus_plus`, on its clipped loss, leaves KL out by
 * default.
 */
export const reinforcePlusPlus: Algorithm = composeAlgorithm({
  name: 'reinforce++',
  paper: 'arXiv:2501.03262',
  description: 'Returns whitened over the batch, clipped ratios.',
  settings: { ...returnToGo.settings, ...clipped.settings },
  profiles: {
    paper: { ...paperNumbers, kl: 'k1', klPlace: 'reward' },
    verl: { ...verlNumbers, dualClip: 3 },
  },
  choose: (settings) => ({
    groupAdvantage: rawReward(),
    tokenAdvantage: returnToGo(settings),
    klReward: 'tokens',
    surrogate: clipped(settings),
  }),
});
