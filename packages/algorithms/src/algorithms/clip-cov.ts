/** GRPO that preserves entropy by detaching tokens of high covariance. */
import type { Algorithm } from '../algorithm.ts';
import { composeAlgorithm } from '../compose.ts';
import { groupRelative, groupRelativeSettings } from '../group-relative.ts';
import { paperGroup, verlGroup } from '../profiles.ts';
import { clipCovariance } from '../selectors/clip-covariance.ts';
import { clipped } from '../surrogates/clipped.ts';

/**
 * Clip-Cov of "The Entropy Mechanism". verl's `clip_cov`, whose log-ratios have no bound.
 */
export const clipCov: Algorithm = composeAlgorithm({
  name: 'clip-cov',
  paper: 'arXiv:2505.22617',
  description: 'Clipped ratios; a random few tokens of high covariance have no gradient.',
  settings: { ...groupRelativeSettings, ...clipped.settings, ...clipCovariance.settings },
  profiles: {
    paper: paperGroup,
    verl: { ...verlGroup, dualClip: 0, maxLogRatio: 0 },
  },
  choose: (settings) => ({
    ...groupRelative(settings),
    surrogate: clipped(settings),
    selectors: [clipCovariance(settings)],
  }),
});
