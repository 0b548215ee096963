/** Muon for the matrices of hidden layers, AdamW for the other parameters. */
import { choice, count, flag, quantity, readSettings, text } from '@saccade/core/settings';
import { z } from 'zod';
import { isMatrix, scale } from '../arrays.ts';
import { type OptimizerUnit, transformed } from '../optimizer.ts';
import { emptyState } from '../state.ts';
import { chain, type Transformation } from '../transformation.ts';
import { clipByGlobalNorm } from '../transformations/clip-by-global-norm.ts';
import { masked, type ParameterFilter } from '../transformations/masked.ts';
import { orthogonalize } from '../transformations/orthogonalize.ts';
import { scaleByAdam } from '../transformations/scale-by-adam.ts';
import { scaleByLearningRate } from '../transformations/scale-by-learning-rate.ts';
import { trace } from '../transformations/trace.ts';
import { beta1, beta2, decay, decays, eps, maxGradNorm, weightDecay } from './fields.ts';

const settings = z.strictObject({
  momentum: quantity({
    min: 0,
    max: 0.999999,
    default: 0.95,
    unit: 'share kept per update',
    about: 'Decay of the mean of gradients that is orthogonalized.',
  }),
  nesterov: flag({ default: true, about: 'Nesterov momentum, which looks one step ahead.' }),
  steps: count({
    min: 1,
    max: 20,
    default: 5,
    unit: 'iterations',
    about: 'Newton–Schulz iterations of an update.',
  }),
  scaling: choice(['moonlight', 'keller'], {
    default: 'moonlight',
    about:
      'Size of an update [R, C]: 0.2·√max(R, C), which suits AdamW’s learning rates, or ' +
      '√max(1, R/C), which suits rates near 0.02.',
  }),
  adamNames: text({
    default: 'embed,lm_head,value_head',
    unit: 'pieces of names, separated by commas',
    about: 'Matrices that AdamW updates instead: those whose names contain one of these.',
  }),
  adamRate: quantity({
    min: 0,
    max: 1e3,
    default: 1,
    unit: 'factor',
    about: 'Learning rate of the AdamW part over that of the matrices.',
  }),
  beta1: beta1(0.9),
  beta2: beta2(0.95, 'Decay of the mean of squared gradients in the AdamW part, β₂.'),
  eps,
  weightDecay,
  decays,
  maxGradNorm,
});

/**
 * Jordan et al. 2024, "Muon: An optimizer for hidden layers in neural networks"; weight decay and
 * the scaling `moonlight`: Liu et al. 2025, arXiv:2502.16982, equation 4.
 */
export const muon: OptimizerUnit<typeof settings> = {
  name: 'muon',
  description: 'Orthogonalized momentum for matrices of hidden layers, AdamW for the rest.',
  settings,
  create(given = {}) {
    const chosen = readSettings('optimizer', settings, given);
    const { momentum, nesterov, steps, scaling, adamRate } = chosen;
    const pieces = chosen.adamNames.split(',').map((piece) => piece.trim());
    const isHidden: ParameterFilter = (name, parameter) =>
      isMatrix(parameter) && !pieces.some((piece) => piece !== '' && name.includes(piece));
    const hidden = chain(
      trace({ decay: momentum, nesterov, take: 1 - momentum }),
      orthogonalize({ steps, scaling }),
      decay(chosen),
    );
    const others = chain(scaleByAdam(chosen), decay(chosen), scaleBy(adamRate));
    const transformation = chain(
      clipByGlobalNorm(chosen.maxGradNorm),
      masked(hidden, isHidden),
      masked(others, (name, parameter) => !isHidden(name, parameter)),
      scaleByLearningRate(),
    );
    return transformed(muon.name, transformation, chosen);
  },
};

/** u ← factor·u */
function scaleBy(factor: number): Transformation {
  return {
    init: () => emptyState,
    async update(updates, state) {
      if (factor !== 1) for (const update of Object.values(updates)) scale(update, factor);
      return state;
    },
  };
}
