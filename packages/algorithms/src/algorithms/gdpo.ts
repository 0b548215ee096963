/** GRPO that standardises each component of the reward by itself. */
import type { Singleton } from '../advantages/group-mean.ts';
import { perTerm } from '../advantages/per-term.ts';
import type { Algorithm } from '../algorithm.ts';
import { composeAlgorithm } from '../compose.ts';
import { clipSettings, groupRelativeSettings } from '../group-relative.ts';
import { paperGroup, trlGroup, verlGroup } from '../profiles.ts';
import { sharedSettings } from '../settings.ts';
import { clipped } from '../surrogates/clipped.ts';
import { standardised } from '../token-advantages/standardised.ts';
import { whitened } from '../token-advantages/whitened.ts';

/**
 * The sum over components is standardised once more over the batch: over sequences in the paper and
 * TRL (`normalize_then_sum`), over tokens in verl (`isWhitened`).
 */
export const gdpo: Algorithm = composeAlgorithm({
  name: 'gdpo',
  paper: 'arXiv:2601.05242',
  description: 'Each component of the reward is standardised by itself.',
  settings: {
    ...sharedSettings,
    ...groupRelativeSettings,
    ...clipSettings,
    isWhitened: false,
  },
  profiles: {
    paper: paperGroup,
    verl: { ...verlGroup, isWhitened: true },
    trl: trlGroup,
  },
  choose: (settings) => ({
    groupAdvantage: perTerm({
      epsilon: settings.stdEpsilon,
      ddof: settings.stdDof,
      singleton: settings.singleton as Singleton,
    }),
    tokenAdvantage: settings.isWhitened
      ? whitened({ countEpsilon: settings.lengthEpsilon })
      : standardised({ epsilon: settings.stdEpsilon, ddof: settings.stdDof }),
    needs: ['terms'],
    surrogate: clipped(settings),
  }),
});
