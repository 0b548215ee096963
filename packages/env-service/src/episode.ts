/** One client's environment: task after task, turn by turn, with the reward at the end. */
import { randomInt } from 'node:crypto';
import { randomAt, StateError } from '@saccade/core';
import type { Env, EnvStep, MessagePart, Split, Task } from '@saccade/gym';
import {
  type Action,
  type ToolResult,
  type Trajectory,
  TrajectoryBuilder,
} from '@saccade/trajectory';
import type { Scored, ServedEnvironments } from './environments.ts';
import {
  type WireAction,
  type WireAnswer,
  type WireObservation,
  type WireReset,
  type WireState,
  writeParts,
} from './wire.ts';

/** An episode that is over or not begun is asked for a step, or something else is under way. */
export class EpisodeError extends StateError {}

/** A step needs something of its action that is not there. */
export class ActionError extends StateError {}

interface Going {
  readonly task: Task;
  readonly episodeId: string;
  readonly stop: readonly string[];
  readonly builder: TrajectoryBuilder;
  steps: number;
  isDone: boolean;
}

export class Episode {
  readonly id: string;
  readonly #served: ServedEnvironments;
  #env: Promise<Env> | undefined;
  #going: Going | undefined;
  #isBusy = false;
  #seed: number = randomInt(2 ** 31);
  #resets = 0;

  /** @param id of the session, for observations */
  constructor(id: string, served: ServedEnvironments) {
    this.id = id;
    this.#served = served;
  }

  get state(): WireState {
    const { episodeId, steps = 0, task, isDone = false } = this.#going ?? {};
    return {
      episode_id: episodeId ?? null,
      step_count: steps,
      task_id: task?.id ?? null,
      done: isDone,
    };
  }

  /**
   * Begins a task: the one of the seed, or without a seed the next of an order that the last seed
   * began.
   *
   * @throws EpisodeError while a step or a reset is under way
   */
  reset(wanted: WireReset, signal: AbortSignal): Promise<WireAnswer> {
    return this.#alone(async () => {
      this.#going = undefined;
      const split = wanted.split ?? this.#served.split ?? 'train';
      const task = await this.#served.taskSet.task(split, this.#index(split, wanted.seed));
      this.#env ??= Promise.resolve(this.#served.makeEnv());
      const { system, user, stop } = await (await this.#env).reset(task, { signal });
      const episodeId = wanted.episode_id ?? `${this.id.slice(0, 8)}-${this.#resets}`;
      const builder = new TrajectoryBuilder({ id: episodeId, taskId: task.id, sampleIndex: 0 });
      builder.prompt(given(user, system));
      this.#going = { task, episodeId, stop, builder, steps: 0, isDone: false };
      const messages: WireObservation['messages'] = [{ role: 'user', content: writeParts(user) }];
      if (system !== undefined) {
        messages.unshift({ role: 'system', content: [{ type: 'text', text: system }] });
      }
      return {
        observation: this.#observation(this.#going, { messages }),
        reward: null,
        done: false,
      };
    });
  }

  /**
   * Takes what the model wrote. What breaks ends the episode without a reward.
   *
   * @throws EpisodeError if there is no episode that goes on, or something else is under way
   * @throws ActionError if a reward counts tokens and the action does not say how many there are
   * @throws SandboxError, ToolError or RewardError if something broke that is not the model's
   */
  step(action: WireAction, signal: AbortSignal): Promise<WireAnswer> {
    const { token_count: tokenCount, text } = action;
    if (this.#served.countsTokens === true && tokenCount === undefined) {
      throw new ActionError(
        'The reward of this environment counts tokens, and the action has no token_count. Send it.',
      );
    }
    return this.#alone(async () => {
      const going = this.#going;
      const env = await this.#env;
      if (going === undefined || going.isDone || env === undefined) {
        throw new EpisodeError('There is no episode that goes on.');
      }
      // Until it is known how it went: half a step cannot be taken back.
      going.isDone = true;
      const step = await env.step(text, { signal });
      const tokens = new Int32Array(tokenCount ?? 1);
      const logprobs = new Float32Array(tokens.length);
      going.builder.model({ tokens, logprobs, text, policyVersion: 0 });
      going.builder.turn(step.action, step.result);
      going.steps++;
      const { observation, stopReason } = step;
      if (observation !== undefined && stopReason === undefined) {
        going.builder.observation(given(observation));
        going.isDone = false;
        const messages: WireObservation['messages'] = [
          { role: 'user', content: writeParts(observation) },
        ];
        return {
          observation: this.#observation(going, { messages, step }),
          reward: null,
          done: false,
        };
      }
      const trajectory = finished(going.builder, step);
      const scored = await this.#served.score(trajectory, going.task);
      return {
        observation: this.#observation(going, { messages: [], step, scored }),
        reward: scored.reward,
        done: true,
      };
    });
  }

  async dispose(): Promise<void> {
    this.#going = undefined;
    // One that never opened has told so where it was opened.
    await (await this.#env?.catch(() => undefined))?.dispose();
  }

  async #alone<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#isBusy) {
      throw new EpisodeError('This environment is at work.');
    }
    this.#isBusy = true;
    try {
      return await work();
    } finally {
      this.#isBusy = false;
    }
  }

  #index(split: Split, seed: number | null | undefined): number {
    if (seed !== null && seed !== undefined) {
      this.#seed = seed;
      this.#resets = 0;
    }
    const resets = this.#resets++;
    const size = this.#served.taskSet.size(split);
    const drawn =
      resets === 0 ? this.#seed : randomAt(this.#seed, 'reset', resets).integer(2 ** 31);
    return Number.isFinite(size) ? drawn % size : drawn;
  }

  #observation(
    { task, episodeId, stop, isDone }: Going,
    {
      messages,
      step,
      scored,
    }: {
      readonly messages: WireObservation['messages'];
      readonly step?: EnvStep;
      readonly scored?: Scored;
    },
  ): WireObservation {
    return {
      session_id: this.id,
      episode_id: episodeId,
      task_id: task.id,
      messages,
      stop: isDone ? [] : [...stop],
      action: step === undefined ? null : { ...step.action },
      result: step?.result === undefined ? null : writeResult(step.result),
      stop_reason: step?.stopReason ?? null,
      reward_terms: scored === undefined ? null : { ...scored.rewardTerms },
      turn_rewards: scored?.turnRewards === undefined ? null : [...scored.turnRewards],
      is_correct: scored?.isCorrect ?? null,
    };
  }
}

/** A message for the ledger: nobody here knows its tokens, so that one stands for each image. */
function given(parts: readonly MessagePart[], system?: string) {
  const images = parts.flatMap((part) => {
    if (part.kind !== 'image') return [];
    const { kind: _, ...image } = part;
    return [{ ...image, modelWidth: part.width, modelHeight: part.height, tokenCount: 1 }];
  });
  const texts = parts.flatMap((part) => (part.kind === 'text' ? [part.text] : []));
  const text = [...(system === undefined ? [] : [system]), ...texts].join('');
  return { tokens: new Int32Array(images.length + 1), images, text };
}

function finished(builder: TrajectoryBuilder, { action, stopReason }: EnvStep): Trajectory {
  if (stopReason !== undefined && stopReason !== 'failed') return builder.finish(stopReason);
  return builder.finish(fallback(action));
}

/** An environment that neither goes on nor says why has ended with what it read. */
function fallback({ kind }: Action): 'answered' | 'invalidAction' | 'toolError' {
  if (kind === 'answer') return 'answered';
  return kind === 'invalid' ? 'invalidAction' : 'toolError';
}

function writeResult(result: ToolResult): NonNullable<WireObservation['result']> {
  const { kind, stdout, stderr, errorType, errorMessage, imageCount } = result;
  return {
    ...{ kind, stdout, stderr, image_count: imageCount },
    ...(errorType !== undefined && { error_type: errorType }),
    ...(errorMessage !== undefined && { error_message: errorMessage }),
  };
}
