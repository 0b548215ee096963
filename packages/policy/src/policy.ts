/**
 * The interface between models and algorithms: a policy samples tokens, scores given tokens,
 * backpropagates gradients of their log-probs, steps its optimizer, saves and loads. Algorithms
 * know nothing else of a model.
 */

import type { Optimizer } from '@saccade/optim';
import type { LossFunction, ModelImage, PackedBatch, ScoreOptions, Scores } from './batch.ts';
import type { ContentPart, EncodedContent } from './content.ts';
import type { ChatMessage } from './processor/chat/message.ts';
import type { Json } from './processor/json-fields.ts';
import type { Truncation } from './truncation.ts';

export type { ContentPart, EncodedContent } from './content.ts';

/**
 * Encodes content as tokens and decodes tokens to text: tokenizer, chat markup and image resizing.
 */
export interface Processor {
  /** Decodes and resizes a PNG or JPEG for the vision tower. */
  prepareImage(encoded: Uint8Array): Promise<ModelImage>;
  /** A complete first prompt: one user turn, then the header that opens the assistant's turn. */
  encodePrompt(user: readonly ContentPart[], system?: string): EncodedContent;
  /**
   * The tokens after a model segment: its end-of-turn token unless `modelEnded`, a user turn with
   * the observation, and a new assistant header.
   */
  encodeObservation(user: readonly ContentPart[], modelEnded: boolean): EncodedContent;
  /** Content alone, without a turn around it: documents and captions. */
  encodeContent(parts: readonly ContentPart[]): EncodedContent;
  /**
   * A whole conversation by the checkpoint's chat template, ready for the assistant's next turn;
   * absent without a template.
   */
  encodeConversation?(
    messages: readonly ChatMessage[],
    options: { readonly tools?: readonly Json[]; readonly addGenerationPrompt: true },
  ): EncodedContent;
  /** Model text as tokens, for demonstrations; ends with the end-of-turn token if `ends`. */
  encodeModelText(text: string, ends: boolean): Int32Array;
  /** Text of tokens; invalid UTF-8 becomes �. */
  decode(tokens: Int32Array): string;
  /** The token that ends a turn. */
  readonly endOfTurn: number;
  /**
   * The placeholder token of an image, once per visual feature; absent for a model without vision.
   */
  readonly imageToken?: number;
  /**
   * Set where its tokens hold text and are no model's, as behind a chat API: trajectories are marked
   * with it, and nothing trains on them. Default: they are a model's.
   */
  readonly tokenSource?: 'bytes';
}

/** A request to continue one context. */
export interface SampleRequest extends Truncation {
  /** [T] the whole context so far; cached parts of it are not computed again. */
  readonly tokens: Int32Array;
  /** All images of the context, in order of their placeholders. */
  readonly images: readonly ModelImage[];
  /** Most tokens to sample. */
  readonly maxTokens: number;
  /** Generation stops after the first of these strings appears; it stays in the output. */
  readonly stop: readonly string[];
  /** Continues past the end-of-turn token, for measurements of fixed length. */
  readonly ignoreEndOfTurn?: boolean;
  /**
   * Divides the logits; 0 takes the most likely token. Log-probs are those of this distribution,
   * after topK, topP and minP.
   */
  readonly temperature: number;
  /**
   * Address of the random stream: same seed, context and weights give the same tokens on one
   * device, and on another except where two candidates are nearly tied (see `linearSample`).
   */
  readonly seed: readonly [number, number];
  /** Name of the conversation, under which its next request finds the cache. */
  readonly conversation: string;
  /**
   * Requests with the same key share their first `length` tokens, which are computed once, where the
   * cache has room for it and no image is cut.
   */
  readonly sharedPrefix?: { readonly key: string; readonly length: number };
  /**
   * Called with each token as it is sampled, the last included; it must not throw. Engines over HTTP
   * do not call it.
   */
  readonly onToken?: (token: number) => void;
  /** Ends the request; `sample` then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** A sampled continuation. T counts its tokens, without the context. */
export interface SampleResult {
  /** [T] sampled tokens, including the end-of-turn token if it was sampled. */
  readonly tokens: Int32Array;
  /** [T] nats, under the distribution that was sampled from. */
  readonly logprobs: Float32Array;
  /**
   * [T] the probability, before topK, topP and minP, of the tokens they left to sample from: logprobs
   * + ln keptMass are the policy's own. Absent without them, and where an engine does not tell.
   */
  readonly keptMass?: Float32Array;
  readonly text: string;
  /**
   * `endOfTurn`: the model ended its turn; `stop`: a stop string; `length`: `maxTokens` reached.
   */
  readonly finish: 'endOfTurn' | 'stop' | 'length';
  /** Version of the weights that sampled the first token; later tokens may have newer ones. */
  readonly policyVersion: number;
}

/** How `optimizerStep` updates the parameters. */
export interface OptimizerStep {
  readonly learningRate: number;
  /**
   * The optimizer. Its steps share one state, even if their settings differ; a step of another
   * optimizer needs `resetOptimizer()` first. Default `adamw` with its default settings.
   */
  readonly optimizer?: Optimizer;
  /**
   * How in-flight requests are handled. `refuse`: the step throws a StateError if there are any.
   * The others let them continue with the new weights from their next token. `recompute` recomputes
   * their cache, so that samples depend only on tokens and weights. `keep` keeps the keys and
   * values of the earlier weights (PipelineRL, arXiv:2509.19128), which is free, but samples from a
   * mixture of versions. Default `refuse`.
   */
  readonly inFlight?: 'refuse' | 'recompute' | 'keep';
}

/** The result of an optimizer step. */
export interface OptimizerStepResult {
  /** L2 norm of the accumulated gradient over all parameters, before clipping. */
  readonly gradNorm: number;
  /** True if the norm was not finite. Weights and optimizer state are then unchanged. */
  readonly isSkipped: boolean;
}

/** The part of a policy that rollouts need. Engines and scripted demonstrators have only this. */
export type Sampler = Pick<Policy, 'version' | 'processor' | 'sample' | 'release'>;

/**
 * A language model as algorithms see it: tokens in, samples and log-probs out, gradients of
 * log-probs in. N counts the targets of a batch. Use nothing of it after `dispose`.
 */
export interface Policy {
  /** Number of optimizer steps taken. */
  readonly version: number;
  readonly processor: Processor;
  /** Continues one context. Concurrent calls are batched; each resolves as soon as it is done. */
  sample(request: SampleRequest): Promise<SampleResult>;
  /** Drops the cache of a conversation, or of a shared prefix. */
  release(key: string): void;
  /** Log-probs and entropies [N] of the batch's targets. Default temperature: 1. */
  score(batch: PackedBatch, temperature?: number, options?: ScoreOptions): Promise<Scores>;
  /** Scores the batch, calls `loss` with the scores, and accumulates ∂loss/∂parameters. */
  forwardBackward(
    batch: PackedBatch,
    loss: LossFunction,
    temperature?: number,
  ): Promise<Scores & { readonly loss: number }>;
  /** Updates the trained parameters with the accumulated gradient, and clears it. */
  optimizerStep(step: OptimizerStep): Promise<OptimizerStepResult>;
  /**
   * Writes weights, tokenizer and configuration in Hugging Face layout, optionally the optimizer's
   * state. Of a policy with an adapter that alone is written, or, `merged`, whole weights with it.
   */
  save(directory: string, options?: { optimizer?: boolean; merged?: boolean }): Promise<void>;
  /** Reads a directory that `save` wrote. @throws DataError if it is damaged or does not fit */
  load(directory: string, options?: { optimizer?: boolean }): Promise<void>;
  dispose(): void;
}
