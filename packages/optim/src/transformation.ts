/** Gradient transformations, the parts of optimizers. State is an explicit value. */
import type { Tensor } from '@saccade/tensor';
import type { OptimizerState } from './state.ts';

/** Tensors by parameter name. */
export type Tensors = Readonly<Record<string, Tensor>>;

/** Facts about the current update that a transformation can read. */
export interface UpdateInfo {
  /** The learning rate of this update, for transformations without a schedule of their own. */
  readonly learningRate: number;
}

/**
 * A step from gradients to updates, as in optax (DeepMind 2020): `chain` composes them.
 *
 *   u ← f(u, state, θ),   state ← f′(u, state, θ);   at the end of the chain θ ← θ + u
 */
export interface Transformation {
  /** The state before the first update; it has an entry for each parameter that needs one. */
  init(parameters: Tensors): OptimizerState;
  /**
   * Changes the updates, and the tensors of the state, in place.
   *
   * @param updates     by parameter name, f32, finite; gradients at the start of a chain. Parameters
   *                    without a gradient have no entry, and their state stays as it is
   * @param parameters  all parameters; read only
   * @returns           the state after the update
   * @throws StateError if the state has nothing for one of the updates
   */
  update(
    updates: Tensors,
    state: OptimizerState,
    parameters: Tensors,
    info: UpdateInfo,
  ): Promise<OptimizerState>;
}

/**
 * Runs transformations one after the other; the state of the i-th has names with the prefix `i.`.
 */
export function chain(...stages: readonly Transformation[]): Transformation {
  return {
    init(parameters) {
      return join(stages.map((stage) => stage.init(parameters)));
    },
    async update(updates, state, parameters, info) {
      const states: OptimizerState[] = [];
      for (const [i, stage] of stages.entries()) {
        states.push(await stage.update(updates, withoutPrefix(state, i), parameters, info));
      }
      return join(states);
    },
  };
}

function join(states: readonly OptimizerState[]): OptimizerState {
  const prefixed = <Value>(part: (state: OptimizerState) => Readonly<Record<string, Value>>) =>
    Object.fromEntries(
      states.flatMap((state, i) =>
        Object.entries(part(state)).map(([key, value]) => [`${i}.${key}`, value] as const),
      ),
    );
  return { numbers: prefixed((s) => s.numbers), tensors: prefixed((s) => s.tensors) };
}

function withoutPrefix({ numbers, tensors }: OptimizerState, stage: number): OptimizerState {
  const prefix = `${stage}.`;
  const cut = <Value>(part: Readonly<Record<string, Value>>) =>
    Object.fromEntries(
      Object.entries(part)
        .filter(([key]) => key.startsWith(prefix))
        .map(([key, value]) => [key.slice(prefix.length), value]),
    );
  return { numbers: cut(numbers), tensors: cut(tensors) };
}
