/** REINFORCE++ with the group's mean subtracted first. */
import { groupMean } from '../advantages/group-mean.ts';
import type { Algorithm } from '../algorithm.ts';
import { composeAlgorithm } from '../compose.ts';
import { paperNumbers, verlNumbers } from '../profiles.ts';
import { clipped } from '../surrogates/clipped.ts';
import { whitened } from '../token-advantages/whitened.ts';

/**
 * REINFORCE++-baseline centers rewards within the group and whitens them over the batch; its KL is
 * in the loss, as k2. verl's `reinforce_plus_plus_baseline`.
 */
export const reinforcePlusPlusBaseline: Algorithm = composeAlgorithm({
  name: 'reinforce++-baseline',
  paper: 'arXiv:2501.03262',
  description: 'Rewards minus the group mean, whitened over the batch, clipped ratios.',
  settings: { ...groupMean.settings, ...clipped.settings },
  profiles: {
    paper: { ...paperNumbers, kl: 'k2' },
    verl: { ...verlNumbers, dualClip: 3 },
  },
  choose: (settings) => ({
    groupAdvantage: groupMean(settings),
    tokenAdvantage: whitened(settings),
    surrogate: clipped(settings),
  }),
});
