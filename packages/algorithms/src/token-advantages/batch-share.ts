/** Scales advantages up to compensate for trajectories without reward. */
import type { TokenAdvantage } from '../choices.ts';
import { broadcastOver } from './broadcast.ts';

/**
 * The group's centered reward, scaled up by the share of trajectories whose reward is not 0.
 *
 *   Aₜ = A_sequence · S / max(|{s : R_s ≠ 0}|, 1)
 *
 * GPG, arXiv:2504.02546, as verl's `gpg` has it.
 */
export function batchShare(): TokenAdvantage {
  return (step) => {
    const rewarded = Float64Array.from(step.rewards).filter((reward) => reward !== 0).length;
    const scale = step.rewards.length / Math.max(rewarded, 1);
    const scaled = Float64Array.from(step.sequenceAdvantages, (value) => value * scale);
    return { advantages: broadcastOver(step, scaled) };
  };
}
