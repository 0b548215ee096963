/** The baseline of least variance at every token. */
import { ConfigError } from '@saccade/core';
import type { Step } from '../algorithm.ts';
import type { TokenAdvantage } from '../choices.ts';
import { membersByGroup } from '../sequences.ts';
import { returnsToGo } from '../token-rewards.ts';

// verl's guard of the weights' sum.
const TINY = 1e-8;

/**
 * Return minus a baseline for each group and position, weighted by how much the trajectory's
 * gradient has varied so far.
 *
 *   wₜ = 1 − 2πₜ + Σ_v π(v)²;   Wₜ = Σ_{u≤t} w_u;   Bₜ = Σ_i G_i,t·W_i,t / (Σ_i W_i,t + 1e-8)
 *   Aₜ = Gₜ − Bₜ
 *
 * The optimal token baseline of verl (`tir_optimal_token_baseline`): positions count the tokens that
 * train. Where only the longest trajectory of a group is left there is no baseline (`zeroTail`), nor
 * in a group of one.
 *
 * @throws ConfigError if the step has no sumSquaredProbs or oldLogprobs
 */
export function optimalBaseline(options: { zeroTail?: boolean } = {}): TokenAdvantage {
  const { zeroTail = true } = options;
  return (step) => {
    const returns = returnsToGo(step, 1);
    const energies = cumulativeEnergies(step);
    const advantages = returns.slice();
    for (const members of membersByGroup(step.groups)) {
      // [members][position] → flat token.
      const places = members.map((s) => trainedTokens(step, s)).filter((own) => own.length > 0);
      const lengths = places.map((own) => own.length).sort((a, b) => b - a);
      const second = lengths[1] ?? 0;
      for (let k = 0; k < (lengths[0] ?? 0) && places.length > 1; k++) {
        if (zeroTail && k >= second) break;
        let [weighted, total] = [0, 0];
        for (const own of places) {
          const t = own[k];
          if (t === undefined) continue;
          weighted += (returns[t] as number) * (energies[t] as number);
          total += energies[t] as number;
        }
        const baseline = weighted / (total + TINY);
        for (const own of places) {
          const t = own[k];
          if (t !== undefined) advantages[t] = (returns[t] as number) - baseline;
        }
      }
    }
    return { advantages, returns };
  };
}

/** [N] Wₜ, 0 where the mask is 0. */
function cumulativeEnergies({
  lossMask,
  sequenceOffsets,
  oldLogprobs,
  sumSquaredProbs,
}: Step): Float64Array {
  if (sumSquaredProbs === undefined || oldLogprobs === undefined) {
    const missing = sumSquaredProbs === undefined ? 'sumSquaredProbs' : 'oldLogprobs';
    throw new ConfigError(
      missing,
      `The optimal token baseline needs ${missing}, and the step has none. ` +
        'Score the step with the trainer and keep Σπ² of every token.',
    );
  }
  const energies = new Float64Array(lossMask.length);
  for (let s = 0; s + 1 < sequenceOffsets.length; s++) {
    let running = 0;
    const end = sequenceOffsets[s + 1] as number;
    for (let t = sequenceOffsets[s] as number; t < end; t++) {
      if (lossMask[t] === 0) continue;
      running += 1 - 2 * Math.exp(oldLogprobs[t] as number) + (sumSquaredProbs[t] as number);
      energies[t] = running;
    }
  }
  return energies;
}

/** Flat indices of a sequence's tokens that train. */
function trainedTokens({ lossMask, sequenceOffsets }: Step, sequence: number): readonly number[] {
  const tokens: number[] = [];
  const end = sequenceOffsets[sequence + 1] as number;
  for (let t = sequenceOffsets[sequence] as number; t < end; t++) {
    if (lossMask[t] !== 0) tokens.push(t);
  }
  return tokens;
}
