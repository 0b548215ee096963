/** Unclipped, with a pull on the tokens of highest covariance. */
import type { Algorithm } from '../algorithm.ts';
import { composeAlgorithm } from '../compose.ts';
import { groupRelative, groupRelativeSettings } from '../group-relative.ts';
import { paperGroup, verlNumbers } from '../profiles.ts';
import { highestCovariance } from '../selectors/highest-covariance.ts';
import { klCovSurrogate } from '../surrogates/kl-cov.ts';

/**
 * KL-Cov of "The Entropy Mechanism". verl's `kl_cov`, whose log-ratios have no bound.
 */
export const klCov: Algorithm = composeAlgorithm({
  name: 'kl-cov',
  paper: 'arXiv:2505.22617',
  description: 'Unclipped ratios; the tokens of highest covariance are pulled to the old policy.',
  settings: { ...groupRelativeSettings, ...klCovSurrogate.settings, ...highestCovariance.settings },
  profiles: {
    paper: paperGroup,
    verl: { ...verlNumbers, stdEpsilon: 1e-6, maxLogRatio: 0, covarianceCoefficient: 0.1 },
  },
  choose: (settings) => ({
    ...groupRelative(settings),
    surrogate: klCovSurrogate(settings),
    selectors: [highestCovariance(settings)],
  }),
});
