/** What a pipeline is given: tasks, environments, a teacher, a weak model, a judge, a directory. */
import type { ChatModel } from '@saccade/chat';
import type { EventSink } from '@saccade/core';
import type { Protocol, Task } from '@saccade/gym';
import type { Sampler } from '@saccade/policy';
import type { Verifier } from '@saccade/rewards';
import type { MakeEnv } from '@saccade/rollout';

/** A model that plays, with the environments it plays in. */
export interface Player {
  readonly sampler: Sampler;
  readonly protocol: Protocol;
  /** Environments of a protocol, which may be `protocol` with another prompt or budget. */
  envOf(protocol: Protocol): MakeEnv;
}

/** The surroundings of a pipeline. */
export interface SynthesisContext {
  /** The tasks that data is made from, in order. */
  readonly tasks: readonly Task[];
  readonly teacher: Player;
  /** The model whose pass rate says how hard a task is. */
  readonly weak?: Player;
  /** A model that grades, cleans labels and writes thoughts; `name` is part of what is kept. */
  readonly judge?: ChatModel;
  /** Decides whether an answer is right. */
  readonly verifier: Verifier;
  /** Everything that is made goes here. */
  readonly directory: string;
  readonly seed: number;
  readonly concurrency: number;
  readonly temperature: number;
  readonly maxTurnTokens: number;
  readonly maxContextTokens: number;
  readonly onEvent: EventSink;
  readonly signal?: AbortSignal;
  /** What was spent so far, for progress; default: nothing is said. */
  readonly spent?: () => string;
}
