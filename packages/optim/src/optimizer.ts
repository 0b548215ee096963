/** An optimizer steps parameters by their gradients; a step whose gradient is not finite is skipped. */
import { formatShape, ShapeError, StateError } from '@saccade/core';
import type { SettingsInput, SettingsSchema, Unit } from '@saccade/core/settings';
import type { Tensor } from '@saccade/tensor';
import { blend } from './arrays.ts';
import { globalNorm } from './global-norm.ts';
import type { OptimizerState } from './state.ts';
import type { Tensors, Transformation, UpdateInfo } from './transformation.ts';

export interface StepResult {
  /** The state after the step; its tensors are those of the state before. */
  readonly state: OptimizerState;
  /** Global gradient norm before clipping. */
  readonly gradNorm: number;
  /** True where the norm was not finite: then parameters and state stay as they were. */
  readonly isSkipped: boolean;
}

/** What a run steps with. Which state it keeps is its own matter: see `exportState`. */
export interface Optimizer {
  /** What a configuration calls it. */
  readonly name: string;
  /** The settings it was made with, all of them, as JSON. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** The state before the first step. Only these parameters may be stepped with it. */
  init(parameters: Tensors): OptimizerState;
  /**
   * One step, in place on parameters and state.
   *
   * @param parameters  by name, f32
   * @param gradients   by parameter name; a parameter without one stays as it is, and so does its
   *                    state. Their values are undefined afterwards
   * @throws StateError if there is no gradient, or no state for one; ShapeError if a size differs
   */
  step(
    parameters: Tensors,
    gradients: Readonly<Record<string, Tensor | undefined>>,
    state: OptimizerState,
    info: UpdateInfo,
  ): Promise<StepResult>;
}

/** An optimizer that a run can name: one file, one line in `catalog.ts`. */
export interface OptimizerUnit<Schema extends SettingsSchema = SettingsSchema>
  extends Unit<Schema> {
  /** @throws ConfigError naming the setting that is unknown or out of range */
  create(settings?: SettingsInput<Schema>): Optimizer;
}

/** A step on gradients that are finite and fit; what makes optimizers different. */
export type FiniteStep = (call: {
  readonly parameters: Tensors;
  /** Of the parameters that have one. */
  readonly gradients: Tensors;
  readonly state: OptimizerState;
  readonly info: UpdateInfo;
  /** [1] f32, the square of the gradients' global norm. */
  readonly sumSquares: Tensor;
}) => Promise<OptimizerState>;

/** An optimizer of a step on finite gradients; it measures them, and skips the others. */
export function optimizerOf(
  name: string,
  settings: Optimizer['settings'],
  init: Optimizer['init'],
  step: FiniteStep,
): Optimizer {
  return {
    name,
    settings,
    init,
    async step(parameters, given, state, info) {
      const gradients = gradientsFor(parameters, given);
      const measured = await globalNorm(gradients);
      if (measured === undefined) {
        throw new StateError('There is no gradient to step on. Run the backward pass first.');
      }
      const { sumSquares, norm } = measured;
      try {
        // One inf or NaN would spread through the moments to every later step.
        if (!Number.isFinite(norm)) return { state, gradNorm: norm, isSkipped: true };
        const after = await step({ parameters, gradients, state, info, sumSquares });
        return { state: after, gradNorm: norm, isSkipped: false };
      } finally {
        sumSquares.dispose();
      }
    },
  };
}

/** The optimizer that adds a transformation's updates to the parameters. */
export function transformed(
  name: string,
  transformation: Transformation,
  settings: Optimizer['settings'] = {},
): Optimizer {
  const { init } = transformation;
  return optimizerOf(name, settings, init, async ({ parameters, gradients, state, info }) => {
    const after = await transformation.update(gradients, state, parameters, info);
    for (const [name, update] of Object.entries(gradients)) {
      blend(update, parameters[name] as Tensor, 1, 1);
    }
    return after;
  });
}

function gradientsFor(
  parameters: Tensors,
  given: Readonly<Record<string, Tensor | undefined>>,
): Tensors {
  const gradients: Record<string, Tensor> = {};
  for (const [name, parameter] of Object.entries(parameters)) {
    const gradient = given[name];
    if (gradient === undefined) continue;
    if (gradient.size !== parameter.size) {
      throw new ShapeError(
        `The gradient of "${name}" must be ${formatShape(parameter.shape)}, got ` +
          `${formatShape(gradient.shape)}. Pass gradients of these parameters.`,
      );
    }
    gradients[name] = gradient;
  }
  return gradients;
}
