/** Lion: steps of equal size in every coordinate, in the direction of a sign. */
import { readSettings } from '@saccade/core/settings';
import { z } from 'zod';
import { type OptimizerUnit, transformed } from '../optimizer.ts';
import { chain } from '../transformation.ts';
import { clipByGlobalNorm } from '../transformations/clip-by-global-norm.ts';
import { scaleByLearningRate } from '../transformations/scale-by-learning-rate.ts';
import { scaleByLion } from '../transformations/scale-by-lion.ts';
import { beta1, beta2, decay, decays, maxGradNorm, weightDecay } from './fields.ts';

const settings = z.strictObject({
  beta1: beta1(0.9),
  beta2: beta2(0.99, 'Decay of the momentum that is kept, β₂.'),
  weightDecay,
  decays,
  maxGradNorm,
});

/**
 * Chen et al. 2023, arXiv:2302.06675, algorithm 2: half the state of AdamW. Its learning rate is
 * three to ten times smaller than AdamW's, its weight decay larger by the same factor (section 5).
 */
export const lion: OptimizerUnit<typeof settings> = {
  name: 'lion',
  description: 'The sign of momentum: one moment per parameter instead of two.',
  settings,
  create(given = {}) {
    const chosen = readSettings('optimizer', settings, given);
    const transformation = chain(
      clipByGlobalNorm(chosen.maxGradNorm),
      scaleByLion(chosen),
      decay(chosen),
      scaleByLearningRate(),
    );
    return transformed(lion.name, transformation, chosen);
  },
};
