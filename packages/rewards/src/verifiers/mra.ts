/** Estimates of a number, such as a distance or a size in a video. */
import { count } from '@saccade/core/settings';
import { meanRelativeAccuracy } from '@saccade/statistics';
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
 * VSI-Bench, Yang et al. 2024, arXiv:2412.14171, §3.3; the equation is that of
 * `meanRelativeAccuracy` of `@saccade/statistics`. PyVision-RL's code calls an answer right from 0.5 on.
 */
export const mra = defineVerifier({
  name: 'mra',
  description: 'How many of ten tolerances an estimate keeps, from 0 to 1.',
  paper: 'arXiv:2412.14171, §3.3',
  settings,
  verify(answer, expected, thresholds) {
    const [a, e] = [plainNumberIn(answer), plainNumberIn(expected)];
    if (a === undefined || e === undefined) return 0;
    return meanRelativeAccuracy(a, e, thresholds);
  },
});
