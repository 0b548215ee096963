/** Estimates of a number, such as a distance or a size in a video. */
import { count } from '@saccade/core/settings';
import { z } from 'zod';
import { defineVerifier } from '../define-verifier.ts';
import { plainNumberIn } from './numeric.ts';

const percent = (preset: number, about: string) =>
  count({ min: 1, max: 99, default: preset, unit: 'percent', about });

const settings = z
  .strictObject({
    lowestPercent: percent(50, 'Lowest accuracy θ that is asked for.'),
    highestPercent: percent(95, 'Highest accuracy θ that is asked for.'),
    stepPercent: percent(5, 'Distance between two of them.'),
  })
  .refine(({ lowestPercent, highestPercent }) => lowestPercent <= highestPercent, {
    path: ['highestPercent'],
    message: 'at least lowestPercent',
  });

/**
 * Mean relative accuracy: how many of ten tolerances an estimate keeps.
 *
 *   MRA = (1/10) · #{θ ∈ {0.5, 0.55, …, 0.95} : |ŷ − y| / |y| < 1 − θ}
 *
 * VSI-Bench, Yang et al. 2024, arXiv:2412.14171, §3.3. Where y is 0, only 0 is right. PyVision-RL's
 * code calls an answer right from 0.5 on.
 */
export const mra = defineVerifier({
  name: 'mra',
  description: 'How many of ten tolerances an estimate keeps, from 0 to 1.',
  paper: 'arXiv:2412.14171, §3.3',
  settings,
  verify(answer, expected, { lowestPercent, highestPercent, stepPercent }) {
    const [a, e] = [plainNumberIn(answer), plainNumberIn(expected)];
    if (a === undefined || e === undefined) return 0;
    if (e === 0) return a === 0 ? 1 : 0;
    const error = Math.abs(a - e) / Math.abs(e);
    let [kept, asked] = [0, 0];
    // In whole percents, so that an error of exactly 1 − θ is never inside by rounding.
    for (let percent = lowestPercent; percent <= highestPercent; percent += stepPercent) {
      asked++;
      if (error * 100 < 100 - percent - 1e-9) kept++;
    }
    return kept / asked;
  },
});
