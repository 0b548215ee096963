/** Estimates of a number, such as a distance or a size in a video. */
import type { Verifier } from '../reward.ts';
import { plainNumberIn } from './numeric.ts';

/**
 * Mean relative accuracy: how many of ten tolerances an estimate keeps.
 *
 *   MRA = (1/10) · #{θ ∈ {0.5, 0.55, …, 0.95} : |ŷ − y| / |y| < 1 − θ}
 *
 * VSI-Bench, Yang et al. 2024, arXiv:2412.14171, §3.3. Where y is 0, only 0 is right. PyVision-RL's
 * code calls an answer right from 0.5 on.
 */
export const mra: Verifier = {
  name: 'mra',
  paper: 'arXiv:2412.14171, §3.3',
  verify(answer, expected) {
    const [a, e] = [plainNumberIn(answer), plainNumberIn(expected)];
    if (a === undefined || e === undefined) return 0;
    if (e === 0) return a === 0 ? 1 : 0;
    const error = Math.abs(a - e) / Math.abs(e);
    let kept = 0;
    // In whole percents, so that an error of exactly 1 − θ is never inside by rounding.
    for (let percent = 50; percent <= 95; percent += 5) {
      if (error * 100 < 100 - percent - 1e-9) kept++;
    }
    return kept / 10;
  },
};
