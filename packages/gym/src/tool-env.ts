/** The environment of a tool-using agent: protocol, sandbox session and budgets. */
import { StateError, span } from '@saccade/core';
import { type CapturedImage, type Outcome, type Sandbox, SandboxError } from '@saccade/sandbox';
import { callTool, type ToolImage } from '@saccade/tools';
import { isInvertible, type StopReason, type ToolResult } from '@saccade/trajectory';
import type { Budgets } from './budgets.ts';
import { CodeSession } from './code-session.ts';
import type { Env, EnvReset, EnvStep } from './env.ts';
import type { MessagePart, ObservationPlace, Protocol } from './protocol.ts';
import type { Task } from './task.ts';

/** Options of `createToolEnv`. */
export interface ToolEnvOptions {
  readonly protocol: Protocol;
  readonly sandbox: Sandbox;
  /** Default: those of the protocol, as published for training. */
  readonly budgets?: Partial<Budgets>;
}

/** An environment for one trajectory at a time; `dispose` ends its session. */
export function createToolEnv(options: ToolEnvOptions): Env {
  return new ToolEnv(options);
}

type ImagePart = MessagePart & { readonly kind: 'image' };

class ToolEnv implements Env {
  readonly #options: ToolEnvOptions;
  readonly #budgets: Budgets;
  #task: Task | undefined;
  #session: CodeSession | undefined;
  #images: ToolImage[] = [];
  #toolTurns = 0;

  constructor(options: ToolEnvOptions) {
    this.#options = options;
    this.#budgets = { ...options.protocol.budgets, ...options.budgets };
  }

  async reset(task: Task, options: { signal?: AbortSignal } = {}): Promise<EnvReset> {
    await this.dispose();
    options.signal?.throwIfAborted();
    const { protocol, sandbox } = this.#options;
    const prompt = span('environment/prompt', () => protocol.prompt(task));
    this.#task = task;
    this.#toolTurns = 0;
    this.#images = [];
    this.#note(prompt.user);
    this.#session = new CodeSession(sandbox, {
      images: [...this.#images],
      ...(task.videos !== undefined && { videos: task.videos }),
      ...(protocol.runtime !== undefined && { runtime: protocol.runtime }),
    });
    return { ...prompt, stop: protocol.stop };
  }

  async step(modelText: string, options: { signal?: AbortSignal } = {}): Promise<EnvStep> {
    if (this.#task === undefined) throw new StateError('step() before reset(). Call reset(task).');
    const { protocol } = this.#options;
    const action = span('environment/parse', () => protocol.parse(modelText));
    if (action.kind === 'answer') return { action, stopReason: 'answered' };
    this.#toolTurns++;
    const isBeyond = this.#toolTurns > this.#budgets.toolTurns;
    if (action.kind === 'invalid') {
      const observation = protocol.observeInvalid?.(action.reason, this.#place());
      if (observation === undefined) return { action, stopReason: 'invalidAction' };
      return isBeyond ? { action, stopReason: 'turnLimit' } : { action, observation };
    }
    if (isBeyond && !protocol.runsBeyondBudget) return { action, stopReason: 'turnLimit' };
    const outcome = this.#known(
      action.kind === 'code'
        ? await this.#execute(action.code, options.signal)
        : await callTool(protocol.tools ?? [], action, {
            images: this.#images,
            sandbox: this.#options.sandbox,
            ...(options.signal !== undefined && { signal: options.signal }),
          }),
    );
    const result = resultOf(outcome);
    const stopReason = protocol.endsOn(outcome) ?? this.#limit(outcome, isBeyond);
    if (stopReason !== undefined) return { action, result, stopReason };
    const observation = span('environment/observe', () => protocol.observe(outcome, this.#place()));
    this.#note(observation);
    return { action, result, observation };
  }

  async dispose(): Promise<void> {
    const session = this.#session;
    this.#session = undefined;
    this.#task = undefined;
    await session?.dispose();
  }

  async #execute(code: string, signal?: AbortSignal): Promise<Outcome> {
    if (this.#session === undefined) throw new StateError('step() after dispose().');
    return await this.#session.execute(code, signal);
  }

  #place(): ObservationPlace {
    const callsLeft = Math.max(0, this.#budgets.toolTurns - this.#toolTurns);
    return { imageIndex: this.#images.length, callsLeft };
  }

  /** Remembers the images that the model is shown. */
  #note(parts: readonly MessagePart[]): void {
    this.#images.push(...parts.filter((part): part is ImagePart => part.kind === 'image'));
  }

  /**
   * The outcome, with origins that name an image the model has seen: code can forge them.
   *
   * @throws SandboxError if the sandbox failed
   */
  #known(outcome: Outcome): Outcome {
    if (outcome.kind === 'infraError') {
      const reason = outcome.error?.message ?? 'no reason given';
      throw new SandboxError(`The sandbox failed under the code of ${this.#task?.id}: ${reason}.`);
    }
    const names = new Set(this.#images.map(({ name }) => name));
    return { ...outcome, images: outcome.images.map((image) => withKnownOrigin(image, names)) };
  }

  #limit(outcome: Outcome, isBeyond: boolean): StopReason | undefined {
    // As published: code beyond the budget runs, but the model does not see its result.
    if (isBeyond) return 'turnLimit';
    const imageCount = this.#images.length + outcome.images.length;
    return imageCount > this.#budgets.images ? 'imageLimit' : undefined;
  }
}

function withKnownOrigin(image: CapturedImage, names: ReadonlySet<string>): CapturedImage {
  const { origin, ...rest } = image;
  if (origin === undefined) return image;
  return names.has(origin.image) && isInvertible(origin.map) ? image : rest;
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
