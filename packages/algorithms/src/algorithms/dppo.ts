/** A trust region on each token's divergence instead of a clip of its ratio. */
import type { Algorithm } from '../algorithm.ts';
import { composeAlgorithm } from '../compose.ts';
import { groupRelative, groupRelativeSettings } from '../group-relative.ts';
import { paperGroup, verlNumbers } from '../profiles.ts';
import { dppoSurrogate } from '../surrogates/dppo.ts';

/**
 * DPPO drops tokens whose probability has moved too far in the direction of their advantage.
 * clipLow and clipHigh bound the divergence. verl's `dppo_tv` and `dppo_kl`.
 */
export const dppo: Algorithm = composeAlgorithm({
  name: 'dppo',
  paper: 'arXiv:2602.04879',
  description: 'Tokens inside a trust region of probabilities, weighted with truncated ratios.',
  settings: { ...groupRelativeSettings, ...dppoSurrogate.settings },
  profiles: {
    paper: paperGroup,
    verl: { ...verlNumbers, stdEpsilon: 1e-6, ratioCap: 3 },
  },
  choose: (settings) => ({
    ...groupRelative(settings),
    isRatioConstant: true,
    surrogate: dppoSurrogate(settings),
  }),
});
