/**
 * An optimizer steps parameters by their gradients; steps with a gradient that is not finite are
 * skipped.
 */
import { formatShape, ShapeError, StateError } from '@saccade/core';
import type { SettingsInput, SettingsSchema, Unit } from '@saccade/core/settings';
import type { Tensor } from '@saccade/tensor';
import { blend } from './arrays.ts';
import { globalNorm } from './global-norm.ts';
import { rejoin, separate, withMasters } from './masters.ts';
import type { OptimizerState } from './state.ts';
import type { Tensors, Transformation, UpdateInfo } from './transformation.ts';

/** The result of one optimizer step. The parameters are updated in place and are not part of it. */
export interface StepResult {
  /** The state after the step. Its tensors are the same objects as before, updated in place. */
  readonly state: OptimizerState;
  /** L2 norm of all gradients as one vector, before clipping. */
  readonly gradNorm: number;
  /** True if the norm was not finite. Parameters and state are then unchanged. */
  readonly isSkipped: boolean;
}

/** Steps parameters by their gradients. Its state is an opaque value; `exportState` saves it. */
export interface Optimizer {
  /** Its name in a configuration. */
  readonly name: string;
  /** All settings it was made with, as JSON. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** The state before the first step. Only these parameters may be stepped with it. */
  init(parameters: Tensors): OptimizerState;
  /**
   * One step, in place on parameters and state.
   *
   * @param parameters  by name, f32; of those in 16 bits the state has f32 copies that are stepped
   * @param gradients   by parameter name; a parameter without one stays as it is, and so does its
   *                    state. Their values are undefined after the step
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

/**
 * The part in which optimizers differ: a step on gradients that are finite and have the right
 * sizes.
 */
export type FiniteStep = (call: {
  readonly parameters: Tensors;
  /** Gradients of the parameters that have one. */
  readonly gradients: Tensors;
  readonly state: OptimizerState;
  readonly info: UpdateInfo;
  /** [1] f32, the square of the gradients' global norm. */
  readonly sumSquares: Tensor;
}) => Promise<OptimizerState>;

/**
 * Makes an optimizer from a step on finite gradients; it measures the norm and skips other steps.
 */
export function optimizerOf(
  name: string,
  settings: Optimizer['settings'],
  init: Optimizer['init'],
  step: FiniteStep,
): Optimizer {
  return {
    name,
    settings,
    init: (parameters) => withMasters(parameters, init),
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
        const { stepped, own } = await separate(parameters, state);
        const call = { parameters: stepped, gradients, state: own, info, sumSquares };
        const after = await rejoin(parameters, stepped, state, await step(call));
        return { state: after, gradNorm: norm, isSkipped: false };
      } finally {
        sumSquares.dispose();
      }
    },
  };
}

/** Makes an optimizer that adds a transformation's updates to the parameters: θ ← θ + u. */
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
