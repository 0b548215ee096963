/** Answers that must be the same mathematics. */
import { count, quantity } from '@saccade/core/settings';
import { answersMatch, defaultPrecision } from '@saccade/math-verify';
import { z } from 'zod';
import { defineVerifier } from '../define-verifier.ts';

const tolerance = (preset: number, about: string) =>
  quantity({ min: 0, max: 1, default: preset, unit: 'fraction', about });
const points = (preset: number, about: string) =>
  count({ min: 1, max: 1000, default: preset, unit: 'points', about });

const settings = z
  .strictObject({
    roundedTolerance: tolerance(
      defaultPrecision.roundedTolerance,
      'Largest difference where one side is written as a decimal.',
    ),
    exactTolerance: tolerance(
      defaultPrecision.exactTolerance,
      'Largest difference of exact expressions: what float64 loses.',
    ),
    probes: points(
      defaultPrecision.probes,
      'Random points at which expressions with symbols are compared.',
    ),
    neededProbes: points(
      defaultPrecision.neededProbes,
      'Points, of those, where both have to be defined.',
    ),
  })
  .refine(({ probes, neededProbes }) => neededProbes <= probes, {
    path: ['neededProbes'],
    message: 'at most probes',
  });

/**
 * 1 if both state the same mathematics, however they are written; see `@saccade/math-verify`.
 * PyVision-RL, CodeDance and CodeV score mathematics with Math-Verify, whose notation it follows.
 */
export const math = defineVerifier({
  name: 'math',
  description: 'The same mathematics, in LaTeX or plain notation.',
  paper: 'github.com/huggingface/Math-Verify; numeric probing after doi:10.1145/322217.322225',
  settings,
  verify: (answer, expected, precision) => (answersMatch(answer, expected, precision) ? 1 : 0),
});
