/** The environment of a tool-using agent: protocol, sandbox session and budgets. */
import { StateError } from '@saccade/core';
import { type Outcome, type Sandbox, SandboxError, type Session } from '@saccade/sandbox';
import type { StopReason, ToolResult } from '@saccade/trajectory';
import type { Budgets, Env, EnvReset, EnvStep } from './env.ts';
import type { Protocol } from './protocol.ts';
import type { Task } from './task.ts';

export interface ToolEnvOptions {
  readonly protocol: Protocol;
  readonly sandbox: Sandbox;
  readonly budgets: Budgets;
}

/** An environment for one trajectory at a time; `dispose` ends its session. */
export function createToolEnv(options: ToolEnvOptions): Env {
  return new ToolEnv(options);
}

class ToolEnv implements Env {
  readonly #options: ToolEnvOptions;
  #session: Promise<Session> | undefined;
  #task: Task | undefined;
  #toolTurns = 0;
  #imageCount = 0;

  constructor(options: ToolEnvOptions) {
    this.#options = options;
  }

  async reset(task: Task, options: { signal?: AbortSignal } = {}): Promise<EnvReset> {
    await this.dispose();
    options.signal?.throwIfAborted();
    this.#task = task;
    this.#toolTurns = 0;
    this.#imageCount = task.images.length;
    const { protocol } = this.#options;
    return { ...protocol.prompt(task), stop: protocol.stop };
  }

  async step(modelText: string, options: { signal?: AbortSignal } = {}): Promise<EnvStep> {
    if (this.#task === undefined) throw new StateError('step() before reset(). Call reset(task).');
    const { protocol, budgets } = this.#options;
    const action = protocol.parse(modelText);
    if (action.kind === 'answer') return { action, stopReason: 'answered' };
    if (action.kind === 'invalid') return { action, stopReason: 'invalidAction' };
    const outcome = await this.#execute(this.#task, action.code, options.signal);
    this.#toolTurns++;
    const result = resultOf(outcome);
    const stopReason = this.#stopReason(protocol.endsOn(outcome), outcome, budgets);
    if (stopReason !== undefined) return { action, result, stopReason };
    const observation = protocol.observe(outcome, this.#imageCount);
    this.#imageCount += outcome.images.length;
    return { action, result, observation };
  }

  async dispose(): Promise<void> {
    const session = this.#session;
    this.#session = undefined;
    this.#task = undefined;
    // A session that never opened has reported its failure where it was opened.
    await session?.then((opened) => opened.dispose()).catch(() => undefined);
  }

  /** Sessions open on first use: an answer without a look costs no process. */
  async #execute(task: Task, code: string, signal?: AbortSignal): Promise<Outcome> {
    const given = signal === undefined ? {} : { signal };
    this.#session ??= this.#options.sandbox.open({
      images: task.images.map(({ name, png }) => ({ name, encoded: png })),
      ...given,
    });
    const session = await this.#session;
    const outcome = await session.execute(code, given);
    if (outcome.kind === 'infraError') {
      throw new SandboxError(
        `The sandbox failed under the code of ${task.id}: ${outcome.error?.message ?? 'no reason given'}.`,
      );
    }
    return outcome;
  }

  #stopReason(
    ends: StopReason | undefined,
    outcome: Outcome,
    budgets: Budgets,
  ): StopReason | undefined {
    if (ends !== undefined) return ends;
    // As published: code beyond the budget runs, but nobody gets to see what it gave.
    if (this.#toolTurns > budgets.toolTurns) return 'turnLimit';
    if (this.#imageCount + outcome.images.length > budgets.images) return 'imageLimit';
    return undefined;
  }
}

function resultOf(outcome: Outcome): ToolResult {
  return {
    kind: outcome.kind,
    stdout: outcome.stdout,
    stderr: outcome.stderr,
    ...(outcome.error && {
      errorType: outcome.error.type,
      errorMessage: outcome.error.message,
      ...(outcome.error.line !== undefined && { errorLine: outcome.error.line }),
    }),
    imageCount: outcome.images.length,
    wallMs: outcome.wallMs,
  };
}
