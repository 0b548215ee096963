/** The baseline of least variance at every token. */
import { ConfigError } from '@saccade/core';
import { choice, flag } from '@saccade/core/settings';
import type { Step } from '../algorithm.ts';
import type { TokenAdvantage } from '../choices.ts';
import { forEachSequence, membersByGroup } from '../sequences.ts';
import { returnsToGo, rewardPlacement } from '../token-rewards.ts';
import { owning } from '../unit.ts';

/** Options of `optimalBaseline`. */
export interface OptimalBaselineOptions {
  /**
   * Whether positions that only the longest trajectory of a group reaches have no baseline. Default
   * true.
   */
  readonly zeroTail?: boolean;
  /** Positions count the tokens that train (`trained`, the default), or all tokens (`padded`). */
  readonly positions?: 'trained' | 'padded';
}

// verl's guard of the weights' sum.
const TINY = 1e-8;

/**
 * Return minus a baseline for each group and position, weighted by how much the trajectory's
 * gradient has varied so far.
 *
 *   wₜ = (1 − 2πₜ + Σ_v π(v)²)·ρₜ²;   Wₜ = Σ_{u≤t} w_u;   Bₜ = Σ_i G_i,t·W_i,t / (Σ_i W_i,t + 1e-8)
 *   Aₜ = Gₜ − Bₜ
 *
 * The optimal token baseline of verl; ρ are the weights of the correction, 1 without one.
 * `positions` is `trained` in verl's `tir_optimal_token_baseline`, and `padded` in its
 * `optimal_token_baseline`, which also counts tokens that do not train. With `zeroTail` there is no
 * baseline where only the longest trajectory of a group is left: from the position on that is the
 * second-largest number of trained tokens, in both. A group of one has no baseline.
 *
 * @throws ConfigError if the step has no sumSquaredProbs or oldLogprobs
 */
export const optimalBaseline = owning(
  {
    zeroTail: flag({
      default: true,
      about: 'Whether there is no baseline where only one trajectory of the group is left.',
    }),
    positions: choice(['trained', 'padded'], {
      default: 'trained',
      about: 'Whether the baseline’s positions count the tokens that train, or all tokens.',
    }),
    rewardPlacement,
  },
  makeOptimalBaseline,
);

function makeOptimalBaseline(options: OptimalBaselineOptions = {}): TokenAdvantage {
  const { zeroTail = true, positions = 'trained' } = options;
  const isPadded = positions === 'padded';
  return (step) => {
    const returns = returnsToGo(step, 1);
    const energies = cumulativeEnergies(step);
    const advantages = returns.slice();
    for (const members of membersByGroup(step.groups)) {
      const rows = members
        .map((s) => placesOf(step, s, isPadded))
        .filter(({ trained }) => isPadded || trained > 0);
      if (rows.length < 2) continue;
      const [longest = 0, second = 0] = rows.map(({ trained }) => trained).sort((a, b) => b - a);
      const width = Math.max(...rows.map(({ places }) => places.length));
      for (let k = 0; k < width; k++) {
        let [weighted, total] = [0, 0];
        for (const { places } of rows) {
          const t = places[k] ?? -1;
          if (t < 0) continue;
          weighted += (returns[t] as number) * (energies[t] as number);
          total += energies[t] as number;
        }
        const baseline = weighted / (total + TINY);
        for (const { places, trained } of rows) {
          const t = places[k] ?? -1;
          const isTail = zeroTail && longest > second && trained === longest && k >= second;
          if (t >= 0 && !isTail) advantages[t] = (returns[t] as number) - baseline;
        }
      }
    }
    return { advantages, returns };
  };
}

/** [N] Wₜ, 0 where the mask is 0. */
function cumulativeEnergies(step: Step): Float64Array {
  const { lossMask, sequenceOffsets, oldLogprobs, sumSquaredProbs, tokenWeights } = step;
  if (sumSquaredProbs === undefined || oldLogprobs === undefined) {
    const missing = sumSquaredProbs === undefined ? 'sumSquaredProbs' : 'oldLogprobs';
    throw new ConfigError(
      missing,
      `The optimal token baseline needs ${missing}, and the step has none. ` +
        'Score the step with the trainer and keep Σπ² of every token.',
    );
  }
  const energies = new Float64Array(lossMask.length);
  forEachSequence(sequenceOffsets, (_, start, end) => {
    let running = 0;
    for (let t = start; t < end; t++) {
      if (lossMask[t] === 0) continue;
      const ratio = tokenWeights?.[t] ?? 1;
      const probability = Math.exp(oldLogprobs[t] as number);
      running += (1 - 2 * probability + (sumSquaredProbs[t] as number)) * ratio * ratio;
      energies[t] = running;
    }
  });
  return energies;
}

interface Row {
  /** By position: the flat token, or −1 where the token does not train. */
  readonly places: readonly number[];
  /** Number of tokens that train. */
  readonly trained: number;
}

function placesOf({ lossMask, sequenceOffsets }: Step, sequence: number, isPadded: boolean): Row {
  const places: number[] = [];
  let trained = 0;
  const end = sequenceOffsets[sequence + 1] as number;
  for (let t = sequenceOffsets[sequence] as number; t < end; t++) {
    const isTrained = lossMask[t] !== 0;
    if (isTrained) trained++;
    if (isTrained || isPadded) places.push(isTrained ? t : -1);
  }
  return { places, trained };
}
