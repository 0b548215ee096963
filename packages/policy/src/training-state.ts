/** The state of training besides the weights: accumulated gradients and the optimizer's state. */
import { DataError, messageOf, StateError } from '@saccade/core';
import type { NamedArray } from '@saccade/nn';
import {
  disposeState,
  exportState,
  importState,
  type Optimizer,
  type OptimizerState,
  type SavedState,
  type StepResult,
} from '@saccade/optim';
import { add, type Tensor } from '@saccade/tensor';
import { readArrays, readJson, writeArrays, writeText } from '#disk';

/** The optimizer's tensors. */
const ARRAYS = 'optimizer.safetensors';
/** The optimizer's numbers, and the policy's version. */
const NUMBERS = 'optimizer.json';

export class TrainingState {
  #gradients: Record<string, Tensor> = {};
  #state: { readonly optimizer: string; readonly value: OptimizerState } | undefined;
  /**
   * State read from disk. The next step's optimizer takes it over, because only it can check it.
   */
  #saved: { readonly directory: string; readonly value: SavedState } | undefined;

  /** Adds to a parameter's gradient; takes the tensor over. */
  accumulate(name: string, gradient: Tensor): void {
    const before = this.#gradients[name];
    if (before === undefined) {
      this.#gradients[name] = gradient;
      return;
    }
    const flat = [1, gradient.size];
    const sum = add(before.reshape(flat), gradient.reshape(flat));
    this.#gradients[name] = sum.reshape(gradient.shape);
    before.dispose();
    gradient.dispose();
  }

  /** The accumulated gradients by parameter. Do not write to them. */
  get gradients(): Readonly<Record<string, Tensor>> {
    return this.#gradients;
  }

  clearGradients(): void {
    for (const gradient of Object.values(this.#gradients)) gradient.dispose();
    this.#gradients = {};
  }

  /**
   * Steps the parameters by the accumulated gradients, and clears those.
   *
   * @throws StateError  if there are no gradients, or the state is another optimizer's
   * @throws DataError   if a state read from disk does not fit the optimizer and the parameters
   */
  async step(
    parameters: Readonly<Record<string, Tensor>>,
    optimizer: Optimizer,
    learningRate: number,
  ): Promise<StepResult> {
    const state = this.#stateOf(optimizer, parameters);
    const result = await optimizer.step(parameters, this.#gradients, state, { learningRate });
    this.#state = { optimizer: optimizer.name, value: result.state };
    this.clearGradients();
    return result;
  }

  /** Forgets the optimizer's state. */
  reset(): void {
    if (this.#state !== undefined) disposeState(this.#state.value);
    this.#state = undefined;
    this.#saved = undefined;
  }

  async save(directory: string, version: number): Promise<void> {
    const { numbers, arrays } = await this.#export();
    await writeArrays(directory, ARRAYS, arrays);
    const json = { ...numbers, version };
    await writeText(directory, NUMBERS, `${JSON.stringify(json, null, 2)}\n`);
  }

  /** Reads what `save` wrote and returns the version. @throws DataError if it is damaged */
  async load(directory: string): Promise<number> {
    const { version, ...numbers } = await readJson(directory, NUMBERS);
    if (typeof version !== 'number' || !areNumbers(numbers)) {
      throw new DataError(`${NUMBERS} in ${directory} must hold numbers, "version" among them.`);
    }
    const arrays: ReadonlyMap<string, NamedArray> = await readArrays(directory, ARRAYS);
    this.reset();
    // A policy that has not been stepped has no state yet.
    const isFresh = arrays.size === 0 && Object.values(numbers).every((number) => number === 0);
    if (!isFresh) this.#saved = { directory, value: { numbers, arrays } };
    return version;
  }

  dispose(): void {
    this.clearGradients();
    this.reset();
  }

  async #export(): Promise<SavedState> {
    if (this.#saved !== undefined) return this.#saved.value;
    if (this.#state !== undefined) return await exportState(this.#state.value);
    return { numbers: { step: 0 }, arrays: new Map() };
  }

  #stateOf(optimizer: Optimizer, parameters: Readonly<Record<string, Tensor>>): OptimizerState {
    if (this.#saved !== undefined) {
      const { directory, value } = this.#saved;
      try {
        const state = importState(optimizer.init(parameters), value);
        this.#state = { optimizer: optimizer.name, value: state };
      } catch (error) {
        const message = `${ARRAYS} in ${directory} is not a state of ${optimizer.name}.`;
        throw new DataError(`${message} ${messageOf(error)}`, { cause: error });
      }
      this.#saved = undefined;
    }
    this.#state ??= { optimizer: optimizer.name, value: optimizer.init(parameters) };
    if (this.#state.optimizer !== optimizer.name) {
      throw new StateError(
        `The policy holds a state of ${this.#state.optimizer}, and the step is one of ` +
          `${optimizer.name}. Call resetOptimizer() first, or keep to one optimizer.`,
      );
    }
    return this.#state.value;
  }
}

function areNumbers(
  values: Readonly<Record<string, unknown>>,
): values is Readonly<Record<string, number>> {
  return Object.values(values).every((value) => typeof value === 'number');
}
