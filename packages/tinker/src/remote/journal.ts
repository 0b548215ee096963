/**
 * What a learner was given since it last saved everything: gradients and steps, in order. Given again
 * to another learner with the saved weights, it leads to the same ones.
 */
import type { TinkerModel } from '../client/tinker-model.ts';

/** Gives a learner again what it was given. */
export type Replay = (model: TinkerModel) => Promise<unknown>;

/** Weights with their optimizer, as the server keeps them. */
export interface RecoveryPoint {
  readonly uri: string;
  /** Whether the optimizer's state is there. */
  readonly hasOptimizer: boolean;
}

export class Journal {
  #entries: Replay[] = [];
  #point: RecoveryPoint | undefined;
  #steps = 0;

  /** Where a new learner begins; undefined: with the first weights. */
  get point(): RecoveryPoint | undefined {
    return this.#point;
  }

  /** Optimizer steps since then. */
  get steps(): number {
    return this.#steps;
  }

  get length(): number {
    return this.#entries.length;
  }

  add(entry: Replay, isStep = false): void {
    this.#entries.push(entry);
    if (isStep) this.#steps++;
  }

  /** All that came before is in these weights. */
  restart(point: RecoveryPoint): void {
    this.#point = point;
    this.#entries = [];
    this.#steps = 0;
  }

  /** Brings a new learner to where the lost one was. */
  async replay(model: TinkerModel): Promise<void> {
    if (this.#point !== undefined) {
      await model.loadWeights(this.#point.uri, this.#point.hasOptimizer);
    }
    for (const entry of this.#entries) await entry(model);
  }
}
