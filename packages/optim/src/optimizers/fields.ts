/** Settings that several optimizers share. */
import { choice, quantity } from '@saccade/core/settings';
import { isMatrix } from '../arrays.ts';
import { addDecayedWeights } from '../transformations/add-decayed-weights.ts';
import { masked, type ParameterFilter } from '../transformations/masked.ts';

const probability = { min: 0, max: 0.999999, unit: 'share kept per update' };

/** Decay of the first moment. */
export const beta1 = (preset: number) =>
  quantity({ ...probability, default: preset, about: 'Decay of the mean of gradients, β₁.' });

/** Decay of the second moment. */
export const beta2 = (preset: number, about: string) =>
  quantity({ ...probability, default: preset, about });

export const eps = quantity({
  min: 0,
  max: 1,
  default: 1e-8,
  unit: 'added to the root',
  about: 'Keeps the step finite where gradients are 0.',
});

export const weightDecay = quantity({
  min: 0,
  max: 10,
  default: 0,
  unit: 'per update and learning rate',
  about: 'Decoupled weight decay: a step shrinks weights by learning rate times this.',
});

export const decays = choice(['all', 'matrices'], {
  default: 'all',
  about: 'What decays: all parameters, or matrices only, so that norms and biases stay.',
});

export const maxGradNorm = quantity({
  min: 0,
  max: 1e6,
  default: 1,
  unit: 'L2 norm',
  about: 'The global gradient norm is clipped to this; 0 clips nothing.',
});

/** Whether a parameter decays. */
export function decayFilter(which: 'all' | 'matrices'): ParameterFilter {
  return which === 'all' ? () => true : (_, parameter) => isMatrix(parameter);
}

/** Weight decay of the parameters that decay. */
export function decay(settings: { weightDecay: number; decays: 'all' | 'matrices' }) {
  return masked(addDecayedWeights(settings.weightDecay), decayFilter(settings.decays));
}
