/** Settings that units of several kinds read. */
import { choice, quantity } from '@saccade/core/settings';

/** The largest number a setting without a natural bound can be. */
export const LARGEST = 1e12;

export const lengthEpsilon = quantity({
  min: 0,
  max: 1,
  default: 0,
  unit: 'tokens',
  about: 'Added to counts in means over tokens.',
});

export const maxLogRatio = quantity({
  min: 0,
  max: 700,
  default: 20,
  unit: 'nats',
  about: 'Log-ratios are held within ± this before exp; 0 disables the bound.',
});

export const stdEpsilon = quantity({
  min: 0,
  max: LARGEST,
  default: 1e-6,
  unit: 'reward',
  about: 'Added to standard deviations.',
});

export const stdDof = quantity({
  min: 0,
  max: 1,
  default: 1,
  unit: 'samples',
  about: 'Standard deviations have the denominator n − this.',
});

export const singleton = choice(['zero', 'reward'], {
  default: 'zero',
  about: 'The advantage of a group of one: 0 or its reward.',
});

/** Clip ranges around a ratio of 1, for units that clip ratios. */
export const clipRange = {
  clipLow: quantity({
    min: 0,
    max: LARGEST,
    default: 0.2,
    unit: 'ratio',
    about: 'ε_low: range below a ratio of 1.',
  }),
  clipHigh: quantity({
    min: 0,
    max: LARGEST,
    default: 0.2,
    unit: 'ratio',
    about: 'ε_high: range above a ratio of 1.',
  }),
};

export const gamma = quantity({
  min: 0,
  max: 1,
  default: 1,
  unit: 'factor',
  about: 'γ: discount per token.',
});

export const turnDiscount = quantity({
  min: 0,
  max: 1,
  default: 1,
  unit: 'factor',
  about: 'Discount per turn.',
});

export const turnWeight = quantity({
  min: -LARGEST,
  max: LARGEST,
  default: 1,
  unit: 'factor',
  about: 'Weight of the advantage of turns.',
});
