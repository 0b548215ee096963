/** An environment: `reset` gives the first message, `step` answers a model turn. */
import type { Action, StopReason, ToolResult } from '@saccade/trajectory';
import type { MessagePart } from './protocol.ts';
import type { Task } from './task.ts';

/**
 * The prompt of a trajectory: what the model reads before its first turn, and the strings that end
 * a turn.
 */
export interface EnvReset {
  readonly system?: string;
  readonly user: readonly MessagePart[];
  /** Stop strings for every model turn. */
  readonly stop: readonly string[];
}

/**
 * How the environment answers one model turn: the parsed action, what came of it, and either the
 * next user turn or the reason for the end.
 */
export interface EnvStep {
  readonly action: Action;
  readonly result?: ToolResult;
  /** The next user turn; absent when the trajectory is over. */
  readonly observation?: readonly MessagePart[];
  /** Why the trajectory is over; absent while it goes on. */
  readonly stopReason?: StopReason;
}

/**
 * An environment for one trajectory at a time. Call `reset`, then `step` with each turn of the
 * model until a step has a `stopReason`, then `dispose`.
 */
export interface Env {
  reset(task: Task, options?: { signal?: AbortSignal }): Promise<EnvReset>;
  /**
   * @throws SandboxError for an infrastructure fault; the caller records a failure, not a reward
   */
  step(modelText: string, options?: { signal?: AbortSignal }): Promise<EnvStep>;
  dispose(): Promise<void>;
}
