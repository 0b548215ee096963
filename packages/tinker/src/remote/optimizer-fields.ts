/** An optimizer of ours in the fields of the wire. */

import { z } from '@saccade/core/settings';
import type { OptimizerStep } from '@saccade/policy';
import type { AdamParams } from '../client/tinker-model.ts';
import { TinkerError } from '../wire/tinker-error.ts';

const adamSettings = z.looseObject({
  beta1: z.number().default(0.9),
  beta2: z.number().default(0.999),
  eps: z.number().default(1e-8),
  weightDecay: z.number().default(0),
  decays: z.string().default('all'),
  maxGradNorm: z.number().default(1),
});

/** A step in the fields of the wire. */
export interface WireStep {
  readonly adam: AdamParams;
  /** An optimizer that Adam's fields do not tell; only some servers know such. */
  readonly optimizer?: object;
}

/**
 * The fields of a step.
 *
 * @param isOurs whether the server takes other optimizers by name
 * @throws TinkerError if it does not, and the step needs one
 */
export function wireStep({ learningRate, optimizer }: OptimizerStep, isOurs: boolean): WireStep {
  const { name = 'adamw', settings = {} } = optimizer ?? {};
  const isAdam = name === 'adamw';
  const chosen = adamSettings.parse(isAdam ? settings : {});
  const adam: AdamParams = {
    learning_rate: learningRate,
    beta1: chosen.beta1,
    beta2: chosen.beta2,
    eps: chosen.eps,
    weight_decay: chosen.weightDecay,
    grad_clip_norm: chosen.maxGradNorm,
  };
  const isPlain = isAdam && (chosen.decays === 'all' || chosen.weightDecay === 0);
  if (isPlain) return { adam };
  if (isOurs) return { adam, optimizer: { name, ...settings } };
  throw new TinkerError(
    'user',
    `This server steps with Adam only, and the run has optimizer=${name}` +
      `${isAdam ? ' with decays=matrices' : ''}. Set optimizer=adamw with decays=all.`,
    { code: 'unfit', field: 'optimizer' },
  );
}
