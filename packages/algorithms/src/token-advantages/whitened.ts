/** The batch's advantages are standardised once more, token by token. */
import type { TokenAdvantage } from '../choices.ts';
import { whiten } from '../statistics.ts';
import { broadcastOver } from './broadcast.ts';

/**
 * Advantages of the sequences, given to their tokens and whitened over all tokens of the step.
 *
 *   Aₜ = (A_sequence − mean over tokens) / √(var over tokens + 1e-8)
 *
 * REINFORCE++-baseline, arXiv:2501.03262; verl's second stage of `gdpo` too.
 */
export function whitened(options: { countEpsilon?: number } = {}): TokenAdvantage {
  const { countEpsilon = 0 } = options;
  return (step) => ({
    advantages: whiten(broadcastOver(step, step.sequenceAdvantages), step.lossMask, countEpsilon),
  });
}
