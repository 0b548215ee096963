/** Builds a trajectory by appending; segments out of order are refused. */
import { DataError, ShapeError, StateError } from '@saccade/core';
import { segmentViolations } from './check.ts';
import type {
  Action,
  Failure,
  Segment,
  StopReason,
  ToolResult,
  Trajectory,
  TrajectoryImage,
  TrajectoryTruncation,
  Turn,
} from './trajectory.ts';

/** Tokens that the model did not write, with the images whose placeholders they hold. */
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
  /** [T] the probability of the tokens to sample from, if truncation left some out. */
  readonly keptMass?: Float32Array;
  readonly text: string;
  /** Optimizer steps of the policy that sampled them. */
  readonly policyVersion: number;
}

/** The identity of a trajectory, and the limits of its context. */
export interface TrajectoryIdentity {
  readonly id: string;
  readonly taskId: string;
  readonly sampleIndex: number;
  /** Whether it is its group's baseline. Default false. */
  readonly isBaseline?: boolean;
  /** Where its tokens come from, if nobody sampled them. */
  readonly tokenSource?: Trajectory['tokenSource'];
  /** How its tokens are truncated. Default: not at all. */
  readonly truncation?: TrajectoryTruncation;
  /** Tokens of the whole context, placeholders of images included. Default: no limit. */
  readonly maxTokens?: number;
  /** The token that stands in an image's place; with it, placeholders are checked one by one. */
  readonly imageToken?: number;
}

/**
 * Builds one trajectory: `prompt`, then `model`, `turn`, `observation`, `model`, `turn`, …, then
 * `finish` or `fail`.
 *
 * The ledger is append-only: what is in it is a copy, and nothing changes or removes it. A segment
 * goes in whole, tokens and images together, or not at all: where the context ends, an observation
 * is refused rather than cut, so that no image loses placeholders. One that no model segment
 * follows is left out at the end, so no trajectory ends with an observation.
 */
export class TrajectoryBuilder {
  readonly id: string;
  readonly taskId: string;
  readonly sampleIndex: number;
  readonly #mark: Pick<Trajectory, 'isBaseline' | 'tokenSource' | 'truncation'>;
  readonly #maxTokens: number;
  readonly #imageToken: { readonly imageToken?: number };
  readonly #segments: Segment[] = [];
  readonly #turns: Turn[] = [];
  readonly #imageNames = new Set<string>();
  /** The policy version of every model segment, by its index. */
  readonly #versions = new Map<number, number>();
  #policyVersion = Number.POSITIVE_INFINITY;
  #tokenCount = 0;
  #isFinished = false;

  constructor(identity: TrajectoryIdentity) {
    const { id, taskId, sampleIndex, isBaseline = false, truncation } = identity;
    const { maxTokens, imageToken, tokenSource } = identity;
    this.id = id;
    this.taskId = taskId;
    this.sampleIndex = sampleIndex;
    this.#mark = {
      ...(isBaseline && { isBaseline }),
      ...(tokenSource && { tokenSource }),
      ...(truncation && { truncation }),
    };
    this.#maxTokens = maxTokens ?? Number.POSITIVE_INFINITY;
    this.#imageToken = imageToken === undefined ? {} : { imageToken };
  }

  /** Tokens of the context so far, placeholders of images included. */
  get tokenCount(): number {
    return this.#tokenCount;
  }

  /** Tokens the model may still write; 0 where the prompt alone fills the context. */
  get room(): number {
    return Math.max(0, this.#maxTokens - this.#tokenCount);
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

  /**
   * A prompt that leaves no `room` is recorded too, so that the record shows why nothing follows.
   *
   * @throws DataError if it breaks the ledger's rules, e.g. an image lacks placeholders
   */
  prompt(given: GivenTokens): void {
    this.#expectOpen('prompt', this.#segments.length === 0);
    this.#append(givenSegment('prompt', given));
  }

  /**
   * @throws ShapeError if there is not one log-prob per token, or there are more tokens than room
   * @throws DataError if it breaks the ledger's rules, e.g. a log-prob is not finite
   */
  model(sampled: ModelTokens): void {
    const last = this.#segments.at(-1)?.kind;
    this.#expectOpen('model', last === 'prompt' || last === 'observation');
    if (sampled.tokens.length !== sampled.logprobs.length) {
      throw new ShapeError(
        `A model segment needs one logprob per token; got ${sampled.logprobs.length} for ` +
          `${sampled.tokens.length} tokens. Pass what the sampler gave.`,
      );
    }
    const mass = sampled.keptMass?.slice();
    if (sampled.tokens.length > this.room) {
      throw new ShapeError(
        `The context has room for ${this.room} tokens, the model wrote ${sampled.tokens.length}. ` +
          'Ask the sampler for no more than `room`.',
      );
    }
    const [tokens, logprobs] = [sampled.tokens.slice(), sampled.logprobs.slice()];
    const { text } = sampled;
    this.#append({
      kind: 'model',
      tokens,
      logprobs,
      ...(mass && { keptMass: mass }),
      images: [],
      text,
    });
    this.#versions.set(this.#segments.length - 1, sampled.policyVersion);
    this.#policyVersion = Math.min(this.#policyVersion, sampled.policyVersion);
  }

  /** Records what the last model segment asked for and what came of it. */
  turn(action: Action, result?: ToolResult): void {
    this.#expectOpen('turn', this.#isTurnDue());
    const segment = this.#segments.length - 1;
    this.#turns.push(result === undefined ? { action, segment } : { action, result, segment });
  }

  /**
   * Appends an observation with its images, if one more token fits after it.
   *
   * @returns whether it was appended; if not, nothing was, and the context is full
   * @throws DataError if it breaks the ledger's rules, e.g. an image lacks placeholders
   */
  observation(given: GivenTokens): boolean {
    const isReady = this.#segments.at(-1)?.kind === 'model' && !this.#isTurnDue();
    this.#expectOpen('observation', isReady);
    if (given.tokens.length + 1 > this.room) return false;
    this.#append(givenSegment('observation', given));
    return true;
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

  /**
   * The ledger so far, as a trajectory that was cut off here; this one continues. As always, an
   * observation at the end is left out.
   */
  soFar(): Trajectory {
    const message = 'It had not ended yet.';
    return this.#record({
      stopReason: 'failed',
      failure: { boundary: 'env', message, cause: 'cancelled' },
    });
  }

  #isTurnDue(): boolean {
    const modelSegments = Math.ceil((this.#segments.length - 1) / 2);
    const isModelLast = this.#segments.at(-1)?.kind === 'model';
    return isModelLast && this.#turns.length < modelSegments;
  }

  #append(segment: Segment): void {
    const names = new Set(this.#imageNames);
    const violations = segmentViolations(segment, segment.kind, names, this.#imageToken);
    if (violations.length > 0) {
      throw new DataError(
        `A segment breaks the ledger's rules: ${violations.join('; ')}. Nothing was appended.`,
      );
    }
    for (const { name } of segment.images) this.#imageNames.add(name);
    this.#segments.push(segment);
    this.#tokenCount += segment.tokens.length;
  }

  #close(end: Pick<Trajectory, 'stopReason' | 'answer' | 'failure'>): Trajectory {
    this.#isFinished = true;
    return this.#record(end);
  }

  #record(end: Pick<Trajectory, 'stopReason' | 'answer' | 'failure'>): Trajectory {
    const isDangling = this.#segments.at(-1)?.kind === 'observation';
    const oldest = this.#policyVersion;
    const segments = this.#segments.map((segment, index) => {
      const policyVersion = this.#versions.get(index) ?? oldest;
      return policyVersion > oldest ? { ...segment, policyVersion } : segment;
    });
    return {
      id: this.id,
      taskId: this.taskId,
      sampleIndex: this.sampleIndex,
      ...this.#mark,
      segments: isDangling ? segments.slice(0, -1) : segments,
      turns: [...this.#turns],
      policyVersion: Number.isFinite(oldest) ? oldest : 0,
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

/** A copy: what the caller does with its arrays afterwards does not reach the ledger. */
function givenSegment(kind: 'prompt' | 'observation', given: GivenTokens): Segment {
  const { tokens, images, text } = given;
  return { kind, tokens: tokens.slice(), images: images.map((image) => ({ ...image })), text };
}
