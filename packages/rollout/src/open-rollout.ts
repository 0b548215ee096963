/**
 * A rollout that runs turn by turn, and can be brought to the point that another one had reached.
 */
import { randomAt, StateError } from '@saccade/core';
import type { Env, EnvReset, EnvStep, Task } from '@saccade/gym';
import {
  fullTruncation,
  isTruncated,
  type ModelImage,
  type SampleResult,
  type Sampler,
  type Truncation,
} from '@saccade/policy';
import {
  type Failure,
  type GivenTokens,
  type Trajectory,
  TrajectoryBuilder,
} from '@saccade/trajectory';
import { type EncodedMessage, encodeMessage } from './content.ts';
import { failureOf, Stopped, untilStopped } from './failures.ts';
import { ModelImages } from './model-images.ts';
import {
  digestOf,
  isSameMessage,
  isSameTurn,
  modelSegments,
  type PartialRollout,
} from './partial.ts';
import type { RolloutOptions } from './rollout-options.ts';

/** Leaves a turn with a failure; never seen outside of this file. */
class Broken {
  readonly failure: Failure;
  constructor(failure: Failure) {
    this.failure = failure;
  }
}

/** Leaves a resumption whose environment answers otherwise than it did; never seen outside. */
class Differs {}

/** The result of bringing an environment to where a partial rollout was. */
export type Resumption =
  | { readonly kind: 'resumed' }
  /** The environment answered otherwise than recorded: this rollout is of no use. */
  | { readonly kind: 'differs' }
  | { readonly kind: 'failed'; readonly trajectory: Trajectory };

export class OpenRollout {
  readonly id: string;
  readonly #policy: Sampler;
  readonly #env: Env;
  readonly #task: Task;
  readonly #options: RolloutOptions;
  readonly #images: ModelImages;
  readonly #abort: { signal?: AbortSignal };
  readonly #builder: TrajectoryBuilder;
  readonly #modelImages: ModelImage[] = [];
  readonly #truncation: Required<Truncation> | undefined;
  #start: EnvReset | undefined;
  #promptLength = 0;
  #turn = 0;
  #lastObservation: GivenTokens | undefined;

  /** The environment is the caller's to dispose. */
  constructor(policy: Sampler, env: Env, task: Task, options: RolloutOptions) {
    const { stream, sampleIndex = 0, isBaseline = false, maxContextTokens: maxTokens } = options;
    const { imageToken, tokenSource } = policy.processor;
    this.id = rolloutId(task, options);
    this.#policy = policy;
    this.#env = env;
    this.#task = task;
    this.#options = {
      ...options,
      stream: stream ?? '',
      sampleIndex,
      ...(isBaseline && { temperature: 0 }),
    };
    this.#images = options.images ?? new ModelImages(policy.processor);
    const signals = [options.signal, options.stop].filter((signal) => signal !== undefined);
    // One of its own: many rollouts may share a caller's, and each adds listeners.
    this.#abort = signals.length === 0 ? {} : { signal: AbortSignal.any(signals) };
    const isGreedy = this.#options.temperature === 0;
    this.#truncation = isTruncated(options) && !isGreedy ? fullTruncation(options) : undefined;
    this.#builder = new TrajectoryBuilder({
      id: this.id,
      taskId: task.id,
      sampleIndex,
      isBaseline,
      ...(this.#truncation && { truncation: this.#truncation }),
      maxTokens,
      ...(imageToken !== undefined && { imageToken }),
      ...(tokenSource && { tokenSource }),
    });
  }

  /** Where it stands between two turns. */
  get partial(): PartialRollout {
    return {
      trajectory: this.#builder.soFar(),
      lastObservation: digestOf(this.#lastObservation),
    };
  }

  /**
   * Takes the next turn: the model's, then the environment's answer. The first one begins with the
   * prompt.
   *
   * @returns the trajectory if it has ended with this turn
   * @throws the signal's reason if it is aborted
   */
  async turn(): Promise<Trajectory | undefined> {
    try {
      return await this.#takeTurn();
    } catch (error) {
      if (error instanceof Broken) return this.#builder.fail(error.failure);
      throw error;
    }
  }

  /**
   * Brings a fresh environment to where a partial rollout was: what the model wrote there is put
   * into the ledger as it was, every action is executed again, and what comes of it is compared.
   * Only before the first turn.
   *
   * @throws the signal's reason if it is aborted
   */
  async resume({ trajectory, lastObservation }: PartialRollout): Promise<Resumption> {
    try {
      if (trajectory.segments.length > 0) await this.#repeat(trajectory, lastObservation);
      return { kind: 'resumed' };
    } catch (error) {
      if (error instanceof Differs) return { kind: 'differs' };
      if (error instanceof Broken) {
        return { kind: 'failed', trajectory: this.#builder.fail(error.failure) };
      }
      throw error;
    }
  }

  /** Lets the policy forget the conversation. */
  release(): void {
    this.#policy.release(this.id);
  }

  async #repeat(trajectory: Trajectory, lastObservation: string): Promise<void> {
    const { endOfTurn } = this.#policy.processor;
    const prompt = await this.#begin();
    const [recorded] = trajectory.segments;
    if (recorded === undefined || !isSameMessage(prompt, recorded)) throw new Differs();
    for (const [k, { segment, policyVersion }] of modelSegments(trajectory).entries()) {
      const turn = trajectory.turns[k];
      const { tokens, logprobs, keptMass, text } = segment;
      if (turn === undefined || logprobs === undefined) throw new Differs();
      this.#builder.model({
        tokens,
        logprobs,
        ...(keptMass && { keptMass }),
        text,
        policyVersion,
      });
      this.#turn++;
      const step = await this.#step(text);
      if (!isSameTurn(step, turn) || step.stopReason !== undefined) throw new Differs();
      this.#builder.turn(turn.action, turn.result);
      if (!(await this.#observe(step, tokens.at(-1) === endOfTurn))) throw new Differs();
      const next = trajectory.segments[2 * k + 2];
      const given = this.#lastObservation;
      if (given === undefined) throw new Differs();
      const isSame =
        next === undefined ? digestOf(given) === lastObservation : isSameMessage(given, next);
      if (!isSame) throw new Differs();
    }
  }

  async #begin(): Promise<EncodedMessage> {
    const { processor } = this.#policy;
    const start = await this.#guard('env', () => this.#env.reset(this.#task, this.#abort));
    const prompt = await this.#guard('policy', async () => {
      const message = await encodeMessage(start.user, this.#images, processor, (content) =>
        processor.encodePrompt(content, start.system),
      );
      this.#builder.prompt(message);
      return message;
    });
    this.#modelImages.push(...prompt.modelImages);
    this.#promptLength = prompt.tokens.length;
    this.#start = start;
    return prompt;
  }

  async #takeTurn(): Promise<Trajectory | undefined> {
    const builder = this.#builder;
    if (this.#start === undefined) await this.#begin();
    if (builder.room === 0) return builder.finish('lengthLimit');
    const { seed, stream = '', sampleIndex = 0 } = this.#options;
    const address = randomAt(seed, 'rollout', stream, this.#task.id, sampleIndex, this.#turn++);
    const sampled = await this.#guard('policy', async () => {
      const result = await this.#sample([address.word(), address.word()]);
      builder.model(result);
      return result;
    });
    const step = await this.#step(sampled.text);
    builder.turn(step.action, step.result);
    if (step.result?.kind === 'infraError') {
      throw new Broken({ boundary: 'sandbox', message: step.result.stderr || 'infraError' });
    }
    if (step.stopReason !== undefined) {
      // Cut off before it could be read: the budget ended it, not the model.
      const isCut = sampled.finish === 'length' && step.stopReason === 'invalidAction';
      return this.#end(isCut ? 'lengthLimit' : step.stopReason);
    }
    const hasRoom = await this.#observe(step, sampled.finish === 'endOfTurn');
    return hasRoom ? undefined : builder.finish('lengthLimit');
  }

  #sample(seed: readonly [number, number]): Promise<SampleResult> {
    const { maxTokensPerTurn, temperature = 1, sharedPrefixKey } = this.#options;
    return this.#policy.sample({
      tokens: this.#builder.contextTokens(),
      images: [...this.#modelImages],
      maxTokens: Math.min(maxTokensPerTurn, this.#builder.room),
      stop: this.#start?.stop ?? [],
      temperature,
      ...this.#truncation,
      seed,
      conversation: this.id,
      ...(sharedPrefixKey !== undefined && {
        sharedPrefix: { key: sharedPrefixKey, length: this.#promptLength },
      }),
      ...this.#abort,
    });
  }

  #step(text: string): Promise<EnvStep> {
    return this.#guard('env', () => this.#env.step(text, this.#abort));
  }

  /** Appends the observation; gives whether there was room for it. */
  #observe(step: EnvStep, hasModelEnded: boolean): Promise<boolean> {
    const { observation } = step;
    if (observation === undefined) {
      const message = 'The environment gave neither an observation nor a stop reason.';
      throw new Broken({ boundary: 'env', message });
    }
    const { processor } = this.#policy;
    return this.#guard('policy', async () => {
      const message = await encodeMessage(observation, this.#images, processor, (content) =>
        processor.encodeObservation(content, hasModelEnded),
      );
      if (!this.#builder.observation(message)) return false;
      this.#modelImages.push(...message.modelImages);
      this.#lastObservation = message;
      return true;
    });
  }

  #end(stopReason: Trajectory['stopReason']): Trajectory {
    if (stopReason === 'failed') {
      const message = 'The environment ended it as failed.';
      return this.#builder.fail({ boundary: 'env', message });
    }
    try {
      return this.#builder.finish(stopReason);
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

/** The id of a rollout: its stream, its task and its place in the group. */
export function rolloutId(
  { id }: Pick<Task, 'id'>,
  { stream, sampleIndex = 0 }: Pick<RolloutOptions, 'stream' | 'sampleIndex'>,
): string {
  return [...(stream ? [stream] : []), id, sampleIndex].join('/');
}
