/** AdamW in one fused operation per parameter. */
import { readSettings } from '@saccade/core/settings';
import { adamwStep } from '@saccade/ops';
import { apply } from '@saccade/tensor';
import { z } from 'zod';
import { flat, zerosFor } from '../arrays.ts';
import { type OptimizerUnit, optimizerOf } from '../optimizer.ts';
import { stateNumber, stateTensor } from '../state.ts';
import { beta1, beta2, decayFilter, decays, eps, maxGradNorm, weightDecay } from './fields.ts';

const settings = z.strictObject({
  beta1: beta1(0.9),
  beta2: beta2(0.999, 'Decay of the mean of squared gradients, β₂.'),
  eps,
  weightDecay,
  decays,
  maxGradNorm,
});

/**
 * chain(clipByGlobalNorm, scaleByAdam, addDecayedWeights, scaleByLearningRate), fused.
 *
 * Loshchilov & Hutter 2019, arXiv:1711.05101, algorithm 2; the operations have the order of
 * torch.optim.AdamW, and clipping is that of clip_grad_norm_. State: `step`, `m.<name>`,
 * `v.<name>`.
 */
export const adamw: OptimizerUnit<typeof settings> = {
  name: 'adamw',
  description: 'Adam with decoupled weight decay; the default.',
  settings,
  create(given = {}) {
    const chosen = readSettings('optimizer', settings, given);
    const isDecaying = decayFilter(chosen.decays);
    const init = (parameters: Parameters<typeof zerosFor>[1]) => ({
      numbers: { step: 0 },
      tensors: { ...zerosFor('m', parameters), ...zerosFor('v', parameters) },
    });
    return optimizerOf(adamw.name, chosen, init, async (call) => {
      const { parameters, gradients, state, info, sumSquares } = call;
      const step = stateNumber(state, 'step') + 1;
      const updates = Object.entries(gradients).map(([name, gradient]) => {
        const parameter = parameters[name] ?? gradient;
        const operands = {
          param: flat(parameter),
          m: flat(stateTensor(state, `m.${name}`)),
          v: flat(stateTensor(state, `v.${name}`)),
          grad: flat(gradient),
          sumSquares,
        };
        return { operands, weightDecay: isDecaying(name, parameter) ? chosen.weightDecay : 0 };
      });
      const scalars = {
        learningRate: info.learningRate,
        beta1: chosen.beta1,
        beta2: chosen.beta2,
        eps: chosen.eps,
        step,
        maxNorm: chosen.maxGradNorm,
      };
      for (const update of updates) {
        apply(adamwStep, update.operands, { ...scalars, weightDecay: update.weightDecay });
      }
      return { ...state, numbers: { step } };
    });
  },
};
