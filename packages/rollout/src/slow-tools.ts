/** Tools that answer late on a share of the tasks, to measure what slow tools cost. */
import { randomAt } from '@saccade/core';
import type { Env, EnvReset, EnvStep, Task } from '@saccade/gym';

/**
 * Selects the tasks with slow tools, and how slow they are. The choice depends on seed and task id
 * alone, so every run delays the same tasks.
 */
export interface SlowTools {
  readonly seed: number;
  /** Share of the tasks, 0 to 1. */
  readonly share: number;
  readonly seconds: number;
}

/** An environment that delays every tool result by `seconds` if its task is a slow one. */
export function withSlowTools(env: Env, { seed, share, seconds }: SlowTools): Env {
  return new SlowEnv(env, (id) =>
    randomAt(seed, 'slow tools', id).uniform() < share ? 1000 * seconds : 0,
  );
}

class SlowEnv implements Env {
  readonly #env: Env;
  readonly #delayOf: (taskId: string) => number;
  #delayMs = 0;

  constructor(env: Env, delayOf: (taskId: string) => number) {
    this.#env = env;
    this.#delayOf = delayOf;
  }

  reset(task: Task, options?: { signal?: AbortSignal }): Promise<EnvReset> {
    this.#delayMs = this.#delayOf(task.id);
    return this.#env.reset(task, options);
  }

  async step(modelText: string, options: { signal?: AbortSignal } = {}): Promise<EnvStep> {
    const step = await this.#env.step(modelText, options);
    if (this.#delayMs > 0 && step.result !== undefined) {
      await sleep(this.#delayMs, options.signal);
    }
    return step;
  }

  dispose(): Promise<void> {
    return this.#env.dispose();
  }
}

/** @throws the signal's reason if it is aborted meanwhile */
function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}
