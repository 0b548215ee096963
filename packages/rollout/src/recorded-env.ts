/**
 * Repeats what a recorded trajectory was given: an environment that answers with its tool results
 * and images, and a processor that returns its tokens. Together they reproduce the context of a
 * rollout without a sandbox, a task set, or a tokenizer that may have changed.
 */
import { SaccadeError } from '@saccade/core';
import type { Env, EnvReset, EnvStep, MessagePart, Task } from '@saccade/gym';
import type { EncodedContent, ModelImage, Processor, Sampler } from '@saccade/policy';
import type { Segment, Trajectory } from '@saccade/trajectory';

/** Ends a rollout in which the model wrote something other than the recorded text. */
export class ReplayDivergedError extends SaccadeError {
  constructor(message: string) {
    super('replay', message);
  }
}

/** Options of `recordedEnv`. */
export interface RecordedEnvOptions {
  /** Stop strings of every turn; they come from the protocol and are not recorded. */
  readonly stop: readonly string[];
}

/**
 * An environment that answers every turn as it was answered when the trajectory was recorded.
 *
 * The text of a message is the decoded record, chat markup included, so encoding it again gives
 * other tokens. `recordedSampler` returns the recorded ones.
 */
export function recordedEnv(trajectory: Trajectory, options: RecordedEnvOptions): Env {
  return new RecordedEnv(trajectory, options.stop);
}

class RecordedEnv implements Env {
  readonly #trajectory: Trajectory;
  readonly #stop: readonly string[];
  #turn = 0;

  constructor(trajectory: Trajectory, stop: readonly string[]) {
    this.#trajectory = trajectory;
    this.#stop = stop;
  }

  async reset(): Promise<EnvReset> {
    this.#turn = 0;
    const [prompt] = this.#trajectory.segments;
    if (prompt === undefined) {
      const { id, failure } = this.#trajectory;
      throw new ReplayDivergedError(
        `${id} has no prompt: ${failure?.message ?? 'it was never begun'}.`,
      );
    }
    return { user: partsOf(prompt), stop: this.#stop };
  }

  /**
   * @throws ReplayDivergedError if the model wrote another text, or wrote more turns than are
   *   recorded
   */
  async step(modelText: string): Promise<EnvStep> {
    const { id, segments, turns, stopReason, failure } = this.#trajectory;
    const index = this.#turn++;
    const written = segments[2 * index + 1];
    if (written === undefined) {
      throw new ReplayDivergedError(`${id} has ${index} turns, and the model began another.`);
    }
    if (written.text !== modelText) {
      throw new ReplayDivergedError(`${id} has another text in turn ${index + 1}.`);
    }
    const turn = turns[index];
    if (turn === undefined) throw new ReplayDivergedError(failure?.message ?? `${id} ends here.`);
    const { action, result } = turn;
    const answered = { action, ...(result !== undefined && { result }) };
    const next = segments[2 * index + 2];
    // A failure came before the next turn, so the record has no message to continue with.
    if (next === undefined && stopReason === 'failed') return { ...answered, observation: [] };
    return next === undefined
      ? { ...answered, stopReason }
      : { ...answered, observation: partsOf(next) };
  }

  async dispose(): Promise<void> {}
}

function partsOf({ text, images }: Segment): readonly MessagePart[] {
  const parts = images.map(({ name, png, width, height, origin }) => ({
    kind: 'image' as const,
    name,
    png,
    width,
    height,
    ...(origin && { origin }),
  }));
  return [{ kind: 'text', text }, ...parts];
}

/** The task a trajectory is of, as far as a rollout in its `recordedEnv` asks for it. */
export function recordedTask({ taskId }: Trajectory): Task {
  return { id: taskId, question: '', images: [], answer: '', metadata: {} };
}

/** Options of `recordedSampler`. */
export interface RecordedSamplerOptions {
  /**
   * Waits for the weights of a turn, before it is sampled: a trajectory can have turns of several
   * versions.
   */
  readonly beforeTurn?: (policyVersion: number) => Promise<void>;
  /** Whether messages get the tokens that are recorded, or are encoded again. Default true. */
  readonly givesTokens?: boolean;
}

/**
 * The sampler with the recorded trajectory's messages: its prompt and observations are not encoded
 * again, so a rollout in the `recordedEnv` has the recorded context token by token.
 */
export function recordedSampler(
  sampler: Sampler,
  trajectory: Trajectory,
  options: RecordedSamplerOptions = {},
): Sampler {
  const { beforeTurn, givesTokens = true } = options;
  const { processor } = sampler;
  let turn = 0;
  return {
    get version() {
      return sampler.version;
    },
    processor: givesTokens ? new RecordedProcessor(processor, trajectory) : processor,
    async sample(request) {
      const segment = trajectory.segments[2 * turn++ + 1];
      await beforeTurn?.(segment?.policyVersion ?? trajectory.policyVersion);
      return await sampler.sample(request);
    },
    release: (key) => sampler.release(key),
  };
}

/** Gives prompt and observations the tokens they have in a record, one message after another. */
class RecordedProcessor implements Processor {
  readonly endOfTurn: number;
  readonly imageToken?: number;
  readonly #inner: Processor;
  readonly #given: readonly Segment[];
  #next = 0;

  constructor(inner: Processor, { segments }: Trajectory) {
    this.#inner = inner;
    this.endOfTurn = inner.endOfTurn;
    if (inner.imageToken !== undefined) this.imageToken = inner.imageToken;
    this.#given = segments.filter(({ kind }) => kind !== 'model');
  }

  prepareImage(encoded: Uint8Array): Promise<ModelImage> {
    return this.#inner.prepareImage(encoded);
  }
  encodePrompt(user: Parameters<Processor['encodePrompt']>[0]): EncodedContent {
    this.#next = 0;
    return this.#recorded(user);
  }
  encodeObservation(user: Parameters<Processor['encodeObservation']>[0]): EncodedContent {
    return this.#recorded(user);
  }
  encodeContent(parts: Parameters<Processor['encodeContent']>[0]): EncodedContent {
    return this.#inner.encodeContent(parts);
  }
  encodeModelText(text: string, ends: boolean): Int32Array {
    return this.#inner.encodeModelText(text, ends);
  }
  decode(tokens: Int32Array): string {
    return this.#inner.decode(tokens);
  }

  #recorded(parts: Parameters<Processor['encodeContent']>[0]): EncodedContent {
    const segment = this.#given[this.#next++];
    if (segment === undefined) throw new ReplayDivergedError('The record has no further message.');
    const images = parts.flatMap((part) => (part.kind === 'image' ? [part.image] : []));
    return { tokens: segment.tokens, images };
  }
}
