/**
 * A rollout that runs turn by turn. After a failure it is retried from its last whole turn, and
 * another process can continue it there.
 */
import { type EventSink, messageOf } from '@saccade/core';
import type { Env, Task } from '@saccade/gym';
import type { Sampler } from '@saccade/policy';
import { type Trajectory, TrajectoryBuilder } from '@saccade/trajectory';
import { failureOf } from './failures.ts';
import { OpenRollout, rolloutId } from './open-rollout.ts';
import type { PartialRollout } from './partial.ts';
import type { RolloutOptions } from './rollout-options.ts';
import type { MakeEnv } from './rollout-with-retries.ts';
import { type RetryBudgets, Tries } from './tries.ts';

/** Options of a `ResumableRollout`. */
export interface ResumableOptions extends RolloutOptions {
  /** As for `runRollouts`. Default 2. */
  readonly retries?: number | RetryBudgets;
  /** Continues this rollout, for example one of another process. Default: starts at the prompt. */
  readonly from?: PartialRollout;
  /** Retries used so far, as `spent` of the rollout that is continued. Default: none. */
  readonly spent?: RetryBudgets;
  /**
   * Receives warnings: environments that could not be disposed, resumptions that differ from the
   * record.
   */
  readonly events?: EventSink;
}

interface Opened {
  readonly env: Env;
  readonly rollout: OpenRollout;
}

/**
 * A rollout that advances one turn per call and can be stored between turns. `partial` is plain
 * data; a new instance with `from: partial` continues there, in this process or another.
 */
export class ResumableRollout {
  readonly #policy: Sampler;
  readonly #makeEnv: MakeEnv;
  readonly #task: Task;
  readonly #options: ResumableOptions;
  readonly #tries: Tries;
  #opened: Opened | undefined;
  #last: PartialRollout | undefined;

  constructor(policy: Sampler, makeEnv: MakeEnv, task: Task, options: ResumableOptions) {
    this.#policy = policy;
    this.#makeEnv = makeEnv;
    this.#task = task;
    this.#options = options;
    this.#last = options.from;
    this.#tries = new Tries(options.retries, options.spent);
  }

  /** The rollout up to its last whole turn; undefined before the first. */
  get partial(): PartialRollout | undefined {
    return this.#last;
  }

  /** The trajectory cut off after its last whole turn: failed, with the cause `cancelled`. */
  soFar(): Trajectory {
    return this.#last?.trajectory ?? this.#builder().soFar();
  }

  /** Retries so far, by the boundary of the failure. */
  get spent(): RetryBudgets {
    return this.#tries.spent;
  }

  /**
   * Takes the next turn. If there is no open environment, a fresh one is brought to the last turn
   * first. Disposes of the environment when the rollout ends.
   *
   * @returns the trajectory if it has ended
   * @throws the signal's reason if it is aborted
   */
  async turn(): Promise<Trajectory | undefined> {
    try {
      for (;;) {
        const ended = await this.#tryTurn();
        if (ended === undefined) {
          this.#last = this.#opened?.rollout.partial;
          return undefined;
        }
        await this.dispose();
        if (ended.failure === undefined || !this.#tries.take(ended.failure)) return ended;
      }
    } catch (error) {
      await this.dispose();
      throw error;
    }
  }

  /** Disposes of environment and conversation. A later `turn` makes new ones. */
  async dispose(): Promise<void> {
    const opened = this.#opened;
    this.#opened = undefined;
    if (opened === undefined) return;
    opened.rollout.release();
    await opened.env.dispose().catch((error: unknown) => {
      this.#warn(`An environment could not be disposed: ${messageOf(error)}`);
    });
  }

  async #tryTurn(): Promise<Trajectory | undefined> {
    if (this.#opened !== undefined) return await this.#opened.rollout.turn();
    const opened = await this.#open();
    if (!('env' in opened)) return opened;
    if (this.#last === undefined) return await opened.rollout.turn();
    const resumption = await opened.rollout.resume(this.#last);
    if (resumption.kind === 'failed') return resumption.trajectory;
    if (resumption.kind === 'resumed') return await opened.rollout.turn();
    this.#warn(`Rollout ${opened.rollout.id} came out differently when resumed; it restarts.`);
    this.#last = undefined;
    await this.dispose();
    return await this.#tryTurn();
  }

  async #open(): Promise<Opened | Trajectory> {
    const { signal } = this.#options;
    signal?.throwIfAborted();
    let env: Env;
    try {
      env = await this.#makeEnv();
    } catch (error) {
      signal?.throwIfAborted();
      return this.#builder().fail(failureOf(error, 'env'));
    }
    const rollout = new OpenRollout(this.#policy, env, this.#task, this.#options);
    this.#opened = { env, rollout };
    return this.#opened;
  }

  /** The builder of a trajectory that has not begun. */
  #builder(): TrajectoryBuilder {
    const { sampleIndex = 0, isBaseline = false } = this.#options;
    const id = rolloutId(this.#task, this.#options);
    return new TrajectoryBuilder({ id, taskId: this.#task.id, sampleIndex, isBaseline });
  }

  #warn(message: string): void {
    this.#options.events?.({ kind: 'warning', message });
  }
}
