/** Parameter groups: a transformation of some parameters only. */
import type { Tensor } from '@saccade/tensor';
import type { Tensors, Transformation } from '../transformation.ts';

/** Decides by name and tensor whether a parameter belongs to a group. */
export type ParameterFilter = (name: string, parameter: Tensor) => boolean;

/**
 * Transforms the updates of the parameters that the filter accepts, and keeps state only for them.
 * Other updates pass unchanged.
 *
 *   chain(masked(addDecayedWeights(0.1), (_, p) => p.shape.length === 2), scaleByLearningRate())
 */
export function masked(transformation: Transformation, takes: ParameterFilter): Transformation {
  return {
    init: (parameters) =>
      transformation.init(pick(parameters, (name) => takes(name, parameters[name] as Tensor))),
    update(updates, state, parameters, info) {
      const taken = (name: string) => {
        const parameter = parameters[name];
        return parameter !== undefined && takes(name, parameter);
      };
      return transformation.update(pick(updates, taken), state, pick(parameters, taken), info);
    },
  };
}

function pick(tensors: Tensors, takes: (name: string) => boolean): Tensors {
  return Object.fromEntries(Object.entries(tensors).filter(([name]) => takes(name)));
}
