/** An environment: `reset` gives the first message, `step` answers a model turn. */
import type { Action, StopReason, ToolResult } from '@saccade/trajectory';
import type { MessagePart } from './protocol.ts';
import type { Task } from './task.ts';

export interface EnvReset {
  readonly system?: string;
  readonly user: readonly MessagePart[];
  /** Stop strings for every model turn. */
  readonly stop: readonly string[];
}

export interface EnvStep {
  readonly action: Action;
  readonly result?: ToolResult;
  /** The next user turn; absent when the trajectory is over. */
  readonly observation?: readonly MessagePart[];
  /** Why the trajectory is over; absent while it goes on. */
  readonly stopReason?: StopReason;
}

export interface Env {
  reset(task: Task, options?: { signal?: AbortSignal }): Promise<EnvReset>;
  /** @throws SandboxFailure (an infrastructure fault): the caller records a failure, no reward */
  step(modelText: string, options?: { signal?: AbortSignal }): Promise<EnvStep>;
  dispose(): Promise<void>;
}
