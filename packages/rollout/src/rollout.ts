/** One policy, one environment, one trajectory. */
import { ConfigError, randomAt, StateError } from '@saccade/core';
import type { Env, EnvReset, EnvStep, Task } from '@saccade/gym';
import type { ModelImage, SampleResult, Sampler } from '@saccade/policy';
import { type Failure, type Trajectory, TrajectoryBuilder } from '@saccade/trajectory';
import { encodeMessage } from './content.ts';
import { failureOf, Stopped, untilStopped } from './failures.ts';
import { ModelImages } from './model-images.ts';

/** How to sample; the same for all trajectories of a call. */
export interface SamplingOptions {
  readonly seed: number;
  /**
   * Says what the rollouts are for, e.g. `train/12`. Part of their ids and of their random address:
   * the same task under another stream is another draw.
   */
  readonly stream?: string;
  /** Default 1; 0 takes the most likely token. */
  readonly temperature?: number;
  /** Budget of one model turn. */
  readonly maxTokensPerTurn: number;
  /** Budget of the whole context, placeholders of pictures included. */
  readonly maxContextTokens: number;
  /** Share it between calls to prepare every picture once. */
  readonly images?: ModelImages;
  readonly signal?: AbortSignal;
}

export interface RolloutOptions extends SamplingOptions {
  /** Index within the group. Default 0. */
  readonly sampleIndex?: number;
  /** Trajectories with the same key share their prompt's computation; whoever names it releases it. */
  readonly sharedPrefixKey?: string;
  /** Stops this trajectory alone: it ends as `failed`, its failure's cause `deadline` or `cancelled`. */
  readonly stop?: AbortSignal;
}

/**
 * Rolls out one trajectory: the prompt, then model turn and observation until the environment ends
 * it or the context is full. An observation that would not leave room for one more token is not
 * appended, so the last token is never an observation's; a turn that is cut off is still read by
 * the environment, and ends the trajectory as `lengthLimit` if nothing could be read from it.
 *
 * What breaks around it (sampling, sandbox, environment) is no error: the trajectory ends as
 * `failed` and names the boundary. The environment is the caller's to dispose.
 *
 * @throws the signal's reason if it is aborted
 */
export async function rollout(
  policy: Sampler,
  env: Env,
  task: Task,
  options: RolloutOptions,
): Promise<Trajectory> {
  checkBudgets(options);
  const { stream, sampleIndex = 0, maxContextTokens: maxTokens } = options;
  const id = [...(stream ? [stream] : []), task.id, sampleIndex].join('/');
  const run = new Run(policy, env, id, options);
  const { imageToken } = policy.processor;
  const builder = new TrajectoryBuilder({
    id,
    taskId: task.id,
    sampleIndex,
    maxTokens,
    ...(imageToken !== undefined && { imageToken }),
  });
  try {
    return await run.roll(task, builder);
  } finally {
    policy.release(id);
  }
}

/** @throws ConfigError unless the budgets are whole numbers of at least 1 */
export function checkBudgets(options: SamplingOptions): void {
  for (const field of ['maxTokensPerTurn', 'maxContextTokens'] as const) {
    if (Number.isInteger(options[field]) && options[field] >= 1) continue;
    throw new ConfigError(
      `rollout.${field}`,
      `${field} must be a whole number of at least 1, is ${options[field]}.`,
    );
  }
}

/** Leaves the loop with a failure; never seen outside of this file. */
class Broken {
  readonly failure: Failure;
  constructor(failure: Failure) {
    this.failure = failure;
  }
}

class Run {
  readonly #policy: Sampler;
  readonly #env: Env;
  readonly #conversation: string;
  readonly #options: RolloutOptions;
  readonly #images: ModelImages;
  readonly #abort: { signal?: AbortSignal };
  readonly #modelImages: ModelImage[] = [];
  #promptLength = 0;
  #turn = 0;

  constructor(policy: Sampler, env: Env, conversation: string, options: RolloutOptions) {
    this.#policy = policy;
    this.#env = env;
    this.#conversation = conversation;
    this.#options = options;
    this.#images = options.images ?? new ModelImages(policy.processor);
    const signals = [options.signal, options.stop].filter((signal) => signal !== undefined);
    const [signal] = signals;
    this.#abort =
      signal === undefined
        ? {}
        : { signal: signals.length > 1 ? AbortSignal.any(signals) : signal };
  }

  async roll(task: Task, builder: TrajectoryBuilder): Promise<Trajectory> {
    try {
      return await this.#loop(task, builder);
    } catch (error) {
      if (error instanceof Broken) return builder.fail(error.failure);
      throw error;
    }
  }

  async #loop(task: Task, builder: TrajectoryBuilder): Promise<Trajectory> {
    const { sampleIndex = 0, stream = '' } = this.#options;
    const { processor } = this.#policy;
    const start = await this.#guard('env', () => this.#env.reset(task, this.#abort));
    const prompt = await this.#guard('policy', async () => {
      const message = await encodeMessage(start.user, this.#images, processor, (content) =>
        processor.encodePrompt(content, start.system),
      );
      builder.prompt(message);
      return message;
    });
    this.#modelImages.push(...prompt.modelImages);
    this.#promptLength = prompt.tokens.length;
    if (builder.room === 0) return builder.finish('lengthLimit');

    for (;;) {
      const address = randomAt(
        this.#options.seed,
        'rollout',
        stream,
        task.id,
        sampleIndex,
        this.#turn++,
      );
      const sampled = await this.#guard('policy', async () => {
        const result = await this.#sample(builder, start, [address.word(), address.word()]);
        builder.model(result);
        return result;
      });
      const step = await this.#guard('env', () => this.#env.step(sampled.text, this.#abort));
      builder.turn(step.action, step.result);
      if (step.result?.kind === 'infraError') {
        throw new Broken({ boundary: 'sandbox', message: step.result.stderr || 'infraError' });
      }
      if (step.stopReason !== undefined) {
        // Cut off before it could be read: the budget ended it, not the model.
        const isCut = sampled.finish === 'length' && step.stopReason === 'invalidAction';
        return this.#end(builder, isCut ? 'lengthLimit' : step.stopReason);
      }
      if (!(await this.#observe(builder, step, sampled))) return builder.finish('lengthLimit');
    }
  }

  #sample(
    builder: TrajectoryBuilder,
    start: EnvReset,
    seed: readonly [number, number],
  ): Promise<SampleResult> {
    const { maxTokensPerTurn, temperature = 1, sharedPrefixKey } = this.#options;
    return this.#policy.sample({
      tokens: builder.contextTokens(),
      images: [...this.#modelImages],
      maxTokens: Math.min(maxTokensPerTurn, builder.room),
      stop: start.stop,
      temperature,
      seed,
      conversation: this.#conversation,
      ...(sharedPrefixKey !== undefined && {
        sharedPrefix: { key: sharedPrefixKey, length: this.#promptLength },
      }),
      ...this.#abort,
    });
  }

  /** Appends the observation; gives whether there was room for it. */
  #observe(builder: TrajectoryBuilder, step: EnvStep, sampled: SampleResult): Promise<boolean> {
    const { observation } = step;
    if (observation === undefined) {
      const message = 'The environment gave neither an observation nor a stop reason.';
      throw new Broken({ boundary: 'env', message });
    }
    const { processor } = this.#policy;
    return this.#guard('policy', async () => {
      const message = await encodeMessage(observation, this.#images, processor, (content) =>
        processor.encodeObservation(content, sampled.finish === 'endOfTurn'),
      );
      if (!builder.observation(message)) return false;
      this.#modelImages.push(...message.modelImages);
      return true;
    });
  }

  #end(builder: TrajectoryBuilder, stopReason: Trajectory['stopReason']): Trajectory {
    if (stopReason === 'failed') {
      return builder.fail({ boundary: 'env', message: 'The environment ended it as failed.' });
    }
    try {
      return builder.finish(stopReason);
    } catch (error) {
      if (error instanceof StateError) throw new Broken(failureOf(error, 'env'));
      throw error;
    }
  }

  /** Runs one call across a boundary; what it throws becomes that boundary's failure. */
  async #guard<Value>(boundary: Failure['boundary'], call: () => Promise<Value>): Promise<Value> {
    const { signal, stop } = this.#options;
    signal?.throwIfAborted();
    try {
      return await (stop === undefined ? call() : untilStopped(call, this.#abort.signal ?? stop));
    } catch (error) {
      signal?.throwIfAborted();
      if (stop?.aborted) {
        const cause = stop.reason instanceof Stopped ? stop.reason.why : 'cancelled';
        throw new Broken({ ...failureOf(stop.reason, boundary), cause });
      }
      throw error instanceof Broken ? error : new Broken(failureOf(error, boundary));
    }
  }
}
