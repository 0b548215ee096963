/** Stochastic gradient descent with momentum. */
import { flag, quantity, readSettings } from '@saccade/core/settings';
import { z } from 'zod';
import { type OptimizerUnit, transformed } from '../optimizer.ts';
import { chain } from '../transformation.ts';
import { clipByGlobalNorm } from '../transformations/clip-by-global-norm.ts';
import { scaleByLearningRate } from '../transformations/scale-by-learning-rate.ts';
import { trace } from '../transformations/trace.ts';
import { decay, decays, maxGradNorm } from './fields.ts';

const settings = z.strictObject({
  momentum: quantity({
    min: 0,
    max: 0.999999,
    default: 0.9,
    unit: 'share kept per update',
    about: 'How much of the sum of gradients is kept, μ; 0 keeps no state.',
  }),
  nesterov: flag({ default: false, about: 'Nesterov momentum, which looks one step ahead.' }),
  weightDecay: quantity({
    min: 0,
    max: 10,
    default: 0,
    unit: 'per update and learning rate',
    about: 'L2 penalty: added to the gradient before momentum, as in torch.optim.SGD.',
  }),
  decays,
  maxGradNorm,
});

/** Sutskever et al. 2013; the form and the order are those of `torch.optim.SGD`. */
export const sgd: OptimizerUnit<typeof settings> = {
  name: 'sgd',
  description: 'Stochastic gradient descent with momentum.',
  settings,
  create(given = {}) {
    const chosen = readSettings('optimizer', settings, given);
    const { momentum, nesterov } = chosen;
    const transformation = chain(
      clipByGlobalNorm(chosen.maxGradNorm),
      decay(chosen),
      ...(momentum === 0 ? [] : [trace({ decay: momentum, nesterov })]),
      scaleByLearningRate(),
    );
    return transformed(sgd.name, transformation, chosen);
  },
};
