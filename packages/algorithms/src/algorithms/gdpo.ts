/** GRPO that standardizes each component of the reward separately. */

import { flag } from '@saccade/core/settings';
import { perTerm } from '../advantages/per-term.ts';
import type { Algorithm } from '../algorithm.ts';
import { composeAlgorithm } from '../compose.ts';
import { paperGroup, trlGroup, verlGroup } from '../profiles.ts';
import { clipped } from '../surrogates/clipped.ts';
import { standardized } from '../token-advantages/standardized.ts';
import { whitened } from '../token-advantages/whitened.ts';

const isWhitened = flag({
  default: false,
  about:
    'Whether the sum over components is whitened over tokens, not standardized over sequences.',
});

/**
 * The sum over components is standardized once more over the batch: over sequences in the paper and
 * TRL (`normalize_then_sum`), over tokens in verl (`isWhitened`). `scale: batch` does not exist:
 * each component is compared within its group. KL in the reward comes off the sum, centered in the
 * group and not standardized: as a component its weight would cancel.
 */
export const gdpo: Algorithm = composeAlgorithm({
  name: 'gdpo',
  paper: 'arXiv:2601.05242',
  description: 'Each component of the reward is standardized separately.',
  settings: { ...perTerm.settings, isWhitened, ...clipped.settings },
  profiles: {
    paper: paperGroup,
    verl: { ...verlGroup, isWhitened: true },
    trl: trlGroup,
  },
  choose: (settings) => ({
    groupAdvantage: perTerm(settings),
    tokenAdvantage: settings.isWhitened ? whitened(settings) : standardized(settings),
    klReward: 'centered',
    needs: ['terms'],
    surrogate: clipped(settings),
  }),
});
