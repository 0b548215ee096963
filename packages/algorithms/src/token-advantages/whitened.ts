/** Standardizes the batch's advantages once more, token by token. */
import type { TokenAdvantage } from '../choices.ts';
import { lengthEpsilon as lengthEpsilonField } from '../fields.ts';
import { whiten } from '../statistics.ts';
import { owning } from '../unit.ts';
import { broadcastOver } from './broadcast.ts';

/**
 * Advantages of the sequences, given to their tokens and whitened over all tokens of the step.
 *
 *   Aₜ = (A_sequence − mean over tokens) / √(var over tokens + 1e-8)
 *
 * REINFORCE++-baseline, arXiv:2501.03262; also the second stage of verl's `gdpo`.
 */
export const whitened = owning({ lengthEpsilon: lengthEpsilonField }, makeWhitened);

function makeWhitened(options: { readonly lengthEpsilon?: number } = {}): TokenAdvantage {
  const { lengthEpsilon = 0 } = options;
  return (step) => ({
    advantages: whiten(broadcastOver(step, step.sequenceAdvantages), step.lossMask, lengthEpsilon),
  });
}
