/**
 * The narrow waist: a policy samples tokens, scores given tokens, takes gradients of their
 * log-probs back, steps its optimizer, saves and loads. Algorithms know nothing else of it.
 */
import type { Optimizer } from '@saccade/optim';
import type { LossFunction, ModelImage, PackedBatch, ScoreOptions, Scores } from './batch.ts';

/** Text and images in order of appearance. */
export type ContentPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'image'; readonly image: ModelImage };

export interface EncodedContent {
  readonly tokens: Int32Array;
  readonly images: readonly ModelImage[];
}

/** Turns content into tokens once, and tokens into text; owns tokenizer, chat markup and resizing. */
export interface Processor {
  /** Decodes and resizes a PNG or JPEG for the vision tower. */
  prepareImage(encoded: Uint8Array): Promise<ModelImage>;
  /** A whole first prompt: one user turn, then the header that opens the assistant's turn. */
  encodePrompt(user: readonly ContentPart[], system?: string): EncodedContent;
  /** What follows a model segment: its end, a user turn with the observation, a new assistant header. */
  encodeObservation(user: readonly ContentPart[], modelEnded: boolean): EncodedContent;
  /** Content alone, without a turn around it: documents and captions. */
  encodeContent(parts: readonly ContentPart[]): EncodedContent;
  /** Model text as tokens, for demonstrations; ends with the end-of-turn token if `ends`. */
  encodeModelText(text: string, ends: boolean): Int32Array;
  decode(tokens: Int32Array): string;
  /** The token that ends a turn. */
  readonly endOfTurn: number;
  /** The token that stands in an image's place, once per visual feature. */
  readonly imageToken?: number;
}

export interface SampleRequest {
  /** The whole context so far; the engine reuses what it has cached. */
  readonly tokens: Int32Array;
  /** All images of the context, in order of their placeholders. */
  readonly images: readonly ModelImage[];
  readonly maxTokens: number;
  /** Generation stops after the first of these appears; it stays in the output. */
  readonly stop: readonly string[];
  /** Goes on past the end-of-turn token, for measurements of fixed length. */
  readonly ignoreEndOfTurn?: boolean;
  /** 0 takes the most likely token. Recorded log-probs are those of the tempered distribution. */
  readonly temperature: number;
  /**
   * Address of the random stream: same seed, context and weights give the same tokens on one device,
   * and on another except where two candidates are nearly tied (see `linearSample`).
   */
  readonly seed: readonly [number, number];
  /** Names the conversation, so that its next request finds its cache. */
  readonly conversation: string;
  /** Requests with the same key share the first `length` tokens: computed once for the group. */
  readonly sharedPrefix?: { readonly key: string; readonly length: number };
  readonly signal?: AbortSignal;
}

export interface SampleResult {
  /** [T] sampled tokens, end-of-turn included if sampled. */
  readonly tokens: Int32Array;
  /** [T] nats. */
  readonly logprobs: Float32Array;
  readonly text: string;
  /** `endOfTurn`: the model ended; `stop`: a stop string; `length`: the budget ran out. */
  readonly finish: 'endOfTurn' | 'stop' | 'length';
  /** Of the weights that sampled the first token: later ones may be newer. */
  readonly policyVersion: number;
}

export interface OptimizerStep {
  readonly learningRate: number;
  /**
   * What turns gradients into updates. Steps of one optimizer share a state, whatever settings each
   * of them has; a step of another one needs `resetOptimizer()` first. Default `adamw` with its
   * default settings.
   */
  readonly optimizer?: Optimizer;
  /**
   * How in-flight requests are handled. `refuse`: the step throws a StateError if there are any. The
   * others let them continue with the new weights from their next token. `recompute` computes the
   * cache anew, so that samples depend on tokens and weights alone; `keep` leaves the keys and values
   * of earlier weights in place (PipelineRL, arXiv:2509.19128), which costs nothing and samples from
   * a policy that no weights describe. Default `refuse`.
   */
  readonly inFlight?: 'refuse' | 'recompute' | 'keep';
}

export interface OptimizerStepResult {
  /** Global gradient norm before clipping. */
  readonly gradNorm: number;
  /** True where the norm was not finite: weights and optimizer state stay as they were. */
  readonly isSkipped: boolean;
}

/** The half of a policy that rollouts need; scripted demonstrators have only this. */
export type Sampler = Pick<Policy, 'version' | 'processor' | 'sample' | 'release'>;

export interface Policy {
  /** Optimizer steps taken. */
  readonly version: number;
  readonly processor: Processor;
  /** Continues one context. Calls made together are batched; each resolves as soon as it is done. */
  sample(request: SampleRequest): Promise<SampleResult>;
  /** Forgets the caches of a conversation, or of a shared prefix key. */
  release(key: string): void;
  /** Scores the batch's targets. */
  score(batch: PackedBatch, temperature?: number, options?: ScoreOptions): Promise<Scores>;
  /** Scores, asks `loss` for gradients, and adds ∂loss/∂parameters to the accumulated gradient. */
  forwardBackward(
    batch: PackedBatch,
    loss: LossFunction,
    temperature?: number,
  ): Promise<Scores & { readonly loss: number }>;
  /** Steps the parameters that train by the accumulated gradient, and clears it. */
  optimizerStep(step: OptimizerStep): Promise<OptimizerStepResult>;
  /** Writes weights, tokenizer and configuration in Hugging Face layout; with `optimizer`, its state too. */
  save(directory: string, options?: { optimizer?: boolean }): Promise<void>;
  /** Reads what `save` wrote. */
  load(directory: string, options?: { optimizer?: boolean }): Promise<void>;
  dispose(): void;
}
