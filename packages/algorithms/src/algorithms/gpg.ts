/** Group policy gradient. */
import { groupMean } from '../advantages/group-mean.ts';
import type { Algorithm } from '../algorithm.ts';
import { composeAlgorithm } from '../compose.ts';
import { paperNumbers, verlNumbers } from '../profiles.ts';
import { logProbability } from '../surrogates/log-probability.ts';
import { batchShare } from '../token-advantages/batch-share.ts';

/**
 * GPG has neither ratio nor clip nor KL, and makes up for trajectories without reward. verl's `gpg`.
 */
export const gpg: Algorithm = composeAlgorithm({
  name: 'gpg',
  paper: 'arXiv:2504.02546',
  description: 'Plain policy gradient, scaled up by the share of trajectories that have a reward.',
  settings: { ...groupMean.settings },
  profiles: {
    paper: paperNumbers,
    verl: verlNumbers,
  },
  choose: (settings) => ({
    groupAdvantage: groupMean(settings),
    tokenAdvantage: batchShare(),
    surrogate: logProbability(),
  }),
});
