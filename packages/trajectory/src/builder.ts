/** Grows a trajectory by appending; what would break the ledger's order is refused. */
import { ShapeError, StateError } from '@saccade/core';
import type {
  Action,
  Failure,
  Segment,
  StopReason,
  ToolResult,
  Trajectory,
  TrajectoryImage,
  Turn,
} from './trajectory.ts';

/** Tokens somebody else than the model wrote, with the pictures whose placeholders they hold. */
export interface GivenTokens {
  /** [T] token ids. */
  readonly tokens: Int32Array;
  readonly images: readonly TrajectoryImage[];
  readonly text: string;
}

/** Tokens the model wrote. */
export interface ModelTokens {
  /** [T] token ids. */
  readonly tokens: Int32Array;
  /** [T] nats, as recorded by the sampler; zeros for a demonstration, which nobody sampled. */
  readonly logprobs: Float32Array;
  readonly text: string;
  /** Optimizer steps of the policy that sampled them. */
  readonly policyVersion: number;
}

/**
 * Builds one trajectory: `prompt`, then `model`, `turn`, `observation`, `model`, `turn`, …, then
 * `finish` or `fail`. An observation's tokens and pictures are committed together, and an
 * observation that no model segment follows is left out, so no trajectory ends with one.
 */
export class TrajectoryBuilder {
  readonly id: string;
  readonly taskId: string;
  readonly sampleIndex: number;
  readonly #segments: Segment[] = [];
  readonly #turns: Turn[] = [];
  #policyVersion = Number.POSITIVE_INFINITY;
  #tokenCount = 0;
  #isFinished = false;

  constructor(identity: { id: string; taskId: string; sampleIndex: number }) {
    this.id = identity.id;
    this.taskId = identity.taskId;
    this.sampleIndex = identity.sampleIndex;
  }

  /** Tokens of the context so far, placeholders of pictures included. */
  get tokenCount(): number {
    return this.#tokenCount;
  }

  /** The whole context so far, one array. */
  contextTokens(): Int32Array {
    const context = new Int32Array(this.#tokenCount);
    let at = 0;
    for (const segment of this.#segments) {
      context.set(segment.tokens, at);
      at += segment.tokens.length;
    }
    return context;
  }

  prompt(given: GivenTokens): void {
    this.#expectOpen('prompt', this.#segments.length === 0);
    this.#append({ kind: 'prompt', ...given });
  }

  model(sampled: ModelTokens): void {
    const last = this.#segments.at(-1)?.kind;
    this.#expectOpen('model', last === 'prompt' || last === 'observation');
    if (sampled.tokens.length !== sampled.logprobs.length) {
      throw new ShapeError(
        `A model segment needs one logprob per token; got ${sampled.logprobs.length} for ` +
          `${sampled.tokens.length} tokens. Pass what the sampler gave.`,
      );
    }
    const { tokens, logprobs, text } = sampled;
    this.#append({ kind: 'model', tokens, logprobs, images: [], text });
    this.#policyVersion = Math.min(this.#policyVersion, sampled.policyVersion);
  }

  /** Records what the last model segment asked for and what came of it. */
  turn(action: Action, result?: ToolResult): void {
    this.#expectOpen('turn', this.#isTurnDue());
    const segment = this.#segments.length - 1;
    this.#turns.push(result === undefined ? { action, segment } : { action, result, segment });
  }

  observation(given: GivenTokens): void {
    const isReady = this.#segments.at(-1)?.kind === 'model' && !this.#isTurnDue();
    this.#expectOpen('observation', isReady);
    this.#append({ kind: 'observation', ...given });
  }

  /** Ends the trajectory for a reason of its own. */
  finish(stopReason: Exclude<StopReason, 'failed'>): Trajectory {
    this.#expectOpen('finish', this.#segments.length > 0 && !this.#isTurnDue());
    const last = this.#turns.at(-1)?.action;
    if (stopReason !== 'answered') return this.#close({ stopReason });
    if (last?.kind !== 'answer') {
      throw new StateError('A trajectory that was answered must have an answer in its last turn.');
    }
    return this.#close({ stopReason, answer: last.answer });
  }

  /** Ends the trajectory because something around it broke. What is in the ledger stays. */
  fail(failure: Failure): Trajectory {
    this.#expectOpen('fail', true);
    return this.#close({ stopReason: 'failed', failure });
  }

  #isTurnDue(): boolean {
    const modelSegments = Math.ceil((this.#segments.length - 1) / 2);
    const isModelLast = this.#segments.at(-1)?.kind === 'model';
    return isModelLast && this.#turns.length < modelSegments;
  }

  #append(segment: Segment): void {
    if (segment.tokens.length === 0) {
      throw new ShapeError(`A ${segment.kind} segment must have at least one token.`);
    }
    this.#segments.push(segment);
    this.#tokenCount += segment.tokens.length;
  }

  #close(end: Pick<Trajectory, 'stopReason' | 'answer' | 'failure'>): Trajectory {
    this.#isFinished = true;
    const isDangling = this.#segments.at(-1)?.kind === 'observation';
    return {
      id: this.id,
      taskId: this.taskId,
      sampleIndex: this.sampleIndex,
      segments: isDangling ? this.#segments.slice(0, -1) : [...this.#segments],
      turns: [...this.#turns],
      policyVersion: Number.isFinite(this.#policyVersion) ? this.#policyVersion : 0,
      ...end,
    };
  }

  #expectOpen(call: string, isAllowed: boolean): void {
    if (this.#isFinished) {
      throw new StateError(`Trajectory ${this.id} has ended; ${call}() came too late.`);
    }
    if (isAllowed) return;
    const ledger = this.#segments.map((segment) => segment.kind).join(', ') || 'nothing';
    const turns = this.#turns.length;
    throw new StateError(
      `${call}() does not fit here: the ledger holds ${ledger}, with ${turns} turns. ` +
        'The order is prompt, then model, turn, observation, model, turn, …',
    );
  }
}
