/** Variational sequence-level soft policy optimization. */
import type { Algorithm } from '../algorithm.ts';
import { composeAlgorithm } from '../compose.ts';
import { groupRelative, groupRelativeSettings } from '../group-relative.ts';
import { paperGroup, trlGroup } from '../profiles.ts';
import { vespoSurrogate } from '../surrogates/vespo.ts';

/**
 * VESPO weighs tokens with a smooth function of their sequence's ratio that fades out on both sides,
 * faster where the advantage is negative. A correction's token weights are part of that ratio, so that
 * it compares with the sampler. TRL's `vespo`, a mean over tokens.
 */
export const vespo: Algorithm = composeAlgorithm({
  name: 'vespo',
  paper: 'arXiv:2602.10693',
  description: 'Policy gradient with a soft, constant weight of the sequence ratio.',
  settings: { ...groupRelativeSettings, ...vespoSurrogate.settings },
  defaults: { ratio: 'corrected-sequence' },
  profiles: {
    paper: paperGroup,
    trl: { ...trlGroup, correctionLevel: 'token' },
  },
  choose: (settings) => ({
    ...groupRelative(settings),
    isRatioConstant: true,
    surrogate: vespoSurrogate(settings),
  }),
});
