/** A baseline of least variance at every token. */
import { rawReward } from '../advantages/raw-reward.ts';
import type { Algorithm } from '../algorithm.ts';
import { composeAlgorithm } from '../compose.ts';
import { verlNumbers } from '../profiles.ts';
import { clipped } from '../surrogates/clipped.ts';
import { optimalBaseline } from '../token-advantages/optimal-baseline.ts';

/**
 * verl's `tir_optimal_token_baseline` on its clipped loss.
 */
export const optimalTokenBaseline: Algorithm = composeAlgorithm({
  name: 'optimal-token-baseline',
  paper: 'verl, tir_optimal_token_baseline',
  description: 'Returns minus the baseline of least variance for each group and position.',
  settings: { ...optimalBaseline.settings, ...clipped.settings },
  profiles: {
    verl: { ...verlNumbers, dualClip: 3 },
  },
  choose: (settings) => ({
    groupAdvantage: rawReward(),
    tokenAdvantage: optimalBaseline(settings),
    needs: ['sumSquaredProbs'],
    surrogate: clipped(settings),
  }),
});
