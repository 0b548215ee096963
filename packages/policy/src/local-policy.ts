/** The policy on local kernels: one set of weights for sampling, scoring and training. */

import { planSegments, type SegmentPlan } from '@saccade/attention';
import { ConfigError, span } from '@saccade/core';
import type { Parameters } from '@saccade/nn';
import type { Device } from '@saccade/ops';
import { adamw } from '@saccade/optim';
import { scope, Tape, type Tensor, tensor } from '@saccade/tensor';
import { writeText } from '#disk';
import type { LossFunction, PackedBatch, ScoreOptions, Scores } from './batch.ts';
import { type EngineSettings, engineSettings } from './engine/engine-settings.ts';
import { GenerationEngine, type InFlight } from './engine/generation.ts';
import { SampleWeights } from './engine/sample-weights.ts';
import { activationDtype } from './models/activation-dtype.ts';
import type { LanguageModel } from './models/language-model.ts';
import type { OptimizerStep, OptimizerStepResult, SampleRequest, SampleResult } from './policy.ts';
import {
  hasAdapter,
  PolicyWeights,
  type WeightParts,
  type WriteWeightsOptions,
} from './policy-weights.ts';
import type { CheckpointProcessor } from './processor/checkpoint-processor.ts';
import { writeProcessorFiles } from './processor/processor-files.ts';
import { expectSameTokens } from './same-tokens.ts';
import { type ScoredTensors, scorePacked } from './score.ts';
import { sumSquaredProbs } from './sum-squared-probs.ts';
import type { FixedPolicy, ReferenceOptions, TrainedPolicy } from './trained-policy.ts';
import { TrainingState } from './training-state.ts';

/** The optimizer of steps that name none. */
const DEFAULT_OPTIMIZER = adamw.create();

/** The parts of a policy, with weights on the device. It takes ownership of them. */
export interface LocalPolicyParts extends WeightParts {
  readonly processor: CheckpointProcessor;
  /**
   * Whether a backward runs each block of the model again instead of keeping its activations: less
   * memory for a third more time, and the same bits. Default false.
   */
  readonly recompute?: boolean;
  /**
   * Whether samples are drawn from weights with the adapter added, which is faster and takes copies
   * of the adapted weights; log-probs of samples then differ in last bits from those that training
   * computes. Default false.
   */
  readonly samplesMerged?: boolean;
}

/**
 * A language model with its weights on local kernels. Sampling uses continuous batching over a KV cache and a
 * group's prompt is computed once; scoring gives its samples the same log-probs. Create it with
 * `createLocalPolicy` or `loadLocalPolicy`.
 */
export class LocalPolicy implements TrainedPolicy {
  readonly device: Device;
  readonly model: LanguageModel;
  readonly processor: CheckpointProcessor;
  #engine: GenerationEngine;
  readonly #weights: PolicyWeights;
  readonly #training = new TrainingState();
  readonly #recompute: boolean;
  readonly #samplesMerged: boolean;
  /** The copies that samples are drawn from, with the adapter added. */
  #merged: Readonly<Record<string, Tensor>> = {};
  /** Copies in few bits, which samples are drawn with in the place of the decoder's weights. */
  #quantized: SampleWeights | undefined;
  #version = 0;

  /**
   * @throws ConfigError  if the tokenizer is too large, or a trainable name is not a parameter's
   */
  constructor(parts: LocalPolicyParts) {
    const { device, model, processor, recompute = false, samplesMerged = false } = parts;
    expectVocabulary(processor, model);
    this.device = device;
    this.model = model;
    this.processor = processor;
    this.#weights = new PolicyWeights(parts);
    this.#recompute = recompute;
    // A new adapter adds nothing yet: the first samples need no copies.
    this.#samplesMerged = samplesMerged && this.#weights.hasAdapter;
    this.#engine = new GenerationEngine(device, model, processor, this.#weights.forward);
  }

  get version(): number {
    return this.#version;
  }

  /** Weights by name. Do not write to them. */
  get parameters(): Readonly<Record<string, Tensor>> {
    return this.#weights.all;
  }

  /** Names of the parameters that train. */
  get trainable(): readonly string[] {
    return this.#weights.trainable;
  }

  /** Gradients that no step has used yet, by parameter. Do not write to them. */
  get gradients(): Readonly<Record<string, Tensor>> {
    return this.#training.gradients;
  }

  /** Whether the log-probs of samples are, bit for bit, those that scoring gives. */
  get samplesAsItScores(): boolean {
    const isWide = this.#engine.cacheDtype === activationDtype(this.#weights.base);
    return !this.#samplesMerged && this.#quantized === undefined && isWide;
  }

  /** Whether it trains a low-rank adapter beside frozen weights. */
  get hasAdapter(): boolean {
    return this.#weights.hasAdapter;
  }

  /** Number of weights, over all parameters. */
  get parameterCount(): number {
    return Object.values(this.parameters).reduce((sum, { size }) => sum + size, 0);
  }

  get vocabSize(): number {
    return this.model.vocabSize;
  }

  /** Cache slots in use, for leak tests. */
  get usedCacheSlots(): number {
    return this.#engine.usedSlots;
  }

  /** Token rows computed for sampling so far, and images that went through the vision tower. */
  get sampling(): { readonly computedRows: number; readonly computedImages: number } {
    const { computedRows, computedImages } = this.#engine;
    return { computedRows, computedImages };
  }

  /**
   * Changes how it samples: memory, chunks of prompts, quantized weights. Caches are dropped.
   *
   * @throws StateError while requests run; ConfigError if a setting does not fit the weights
   */
  configureEngine(settings: Partial<EngineSettings>): void {
    this.#engine.expectIdle();
    const { device, model, processor } = this;
    const { sampleWeights } = engineSettings.parse(settings);
    if (sampleWeights !== 'own' && this.#samplesMerged) {
      throw new ConfigError(
        'policy.sampleWeights',
        `policy.sampleWeights is "${sampleWeights}", and model.lora.sampling is "merged". Quantized ` +
          'weights have adapters beside them: set model.lora.sampling to "unmerged".',
      );
    }
    const engine = new GenerationEngine(device, model, processor, this.#weights.forward, settings);
    this.#engine.dispose();
    this.#engine = engine;
    this.#quantized?.dispose();
    this.#quantized =
      sampleWeights === 'own'
        ? undefined
        : new SampleWeights(model, this.#weights.base, sampleWeights);
    this.#engine.reset(this.#sampled, this.#version);
  }

  async sample(request: SampleRequest): Promise<SampleResult> {
    return this.#engine.sample(request);
  }

  release(key: string): void {
    this.#engine.release(key);
  }

  async score(batch: PackedBatch, temperature = 1, options: ScoreOptions = {}): Promise<Scores> {
    return await this.#scoreWith(this.#weights.forward, batch, temperature, options);
  }

  /**
   * The policy of a directory, held fixed. Where both are adapters it shares the frozen weights.
   *
   * @throws ConfigError if its tokens are not this policy's: then its log-probs say nothing
   * @throws DataError   if an adapter is one of another base
   */
  async openReference(directory: string, options: ReferenceOptions): Promise<FixedPolicy> {
    if (this.hasAdapter && hasAdapter(directory)) {
      const { parameters, dispose } = await this.#weights.withAdapterOf(directory);
      return { ...this.#scorer(parameters), dispose };
    }
    const reference = await options.openWhole(directory);
    try {
      expectSameTokens(directory, this.processor, reference.processor);
      return reference;
    } catch (error) {
      await reference.dispose();
      throw error;
    }
  }

  /** The weights below the adapter, held fixed; without an adapter, the weights as they are. */
  get baseScorer(): Pick<FixedPolicy, 'score'> {
    return this.#scorer(this.#weights.base);
  }

  #scorer(parameters: Parameters): Pick<FixedPolicy, 'score'> {
    return {
      score: (batch, temperature = 1, options = {}) =>
        this.#scoreWith(parameters, batch, temperature, options),
    };
  }

  async #scoreWith(
    parameters: Parameters,
    batch: PackedBatch,
    temperature: number,
    options: ScoreOptions,
  ): Promise<Scores> {
    const scored = span('tensor and tape/score', () =>
      scope(() => this.#score(parameters, batch, temperature, options)),
    );
    try {
      return await readScores(scored, batch);
    } finally {
      for (const one of Object.values(scored)) one?.dispose();
    }
  }

  async forwardBackward(
    batch: PackedBatch,
    loss: LossFunction,
    temperature = 1,
  ): Promise<Scores & { readonly loss: number }> {
    const { trained, forward } = this.#weights;
    const names = Object.keys(trained).sort();
    const tracked = names.map((name) => trained[name] as Tensor);
    const tape = new Tape(tracked, { recompute: this.#recompute });
    try {
      const scored = span('tensor and tape/forward', () =>
        tape.run(() => this.#score(forward, batch, temperature)),
      );
      const scores = await readScores(scored, batch);
      const result = span('loss', () => loss(scores));
      const count = [batch.targets.length];
      const seeds: [Tensor, Tensor][] = [
        [scored.logprobs, tensor(this.device, 'f32', count, result.gradLogprobs)],
      ];
      if (result.gradEntropy !== undefined) {
        seeds.push([scored.entropy, tensor(this.device, 'f32', count, result.gradEntropy)]);
      }
      if (result.gradValues !== undefined) {
        if (scored.values === undefined) {
          throw new ConfigError(
            'valueHead',
            'The loss has a gradient for values, but the policy predicts none. ' +
              'Create it with valueHead: true.',
          );
        }
        seeds.push([scored.values, tensor(this.device, 'f32', count, result.gradValues)]);
      }
      const gradients = span('tensor and tape/backward', () => tape.backward(seeds));
      for (const [, seed] of seeds) seed.dispose();
      names.forEach((name, i) => {
        const gradient = gradients[i];
        if (gradient !== undefined) this.#training.accumulate(name, gradient);
      });
      return { loss: result.loss, ...scores };
    } finally {
      tape.dispose();
    }
  }

  async optimizerStep(step: OptimizerStep): Promise<OptimizerStepResult> {
    const { inFlight = 'refuse' } = step;
    if (inFlight !== 'refuse') {
      return await this.#engine.betweenPasses(() => this.#update(step, inFlight));
    }
    this.#engine.expectIdle();
    return await this.#update(step, inFlight);
  }

  async #update(step: OptimizerStep, inFlight: InFlight): Promise<OptimizerStepResult> {
    const { optimizer = DEFAULT_OPTIMIZER, learningRate } = step;
    const { trained } = this.#weights;
    const { gradNorm, isSkipped } = await this.#training.step(trained, optimizer, learningRate);
    this.#version++;
    // Below an adapter the base does not move.
    await this.#resetEngine(!this.hasAdapter, inFlight);
    return { gradNorm, isSkipped };
  }

  /** The weights to sample with; unmerged until the first step. */
  get #sampled(): Parameters {
    if (Object.keys(this.#merged).length > 0) return { ...this.#weights.base, ...this.#merged };
    return { ...this.#weights.forward, ...this.#quantized?.views };
  }

  /** Lets the engine sample with the weights as they are now. */
  async #resetEngine(isBaseNew: boolean, inFlight?: InFlight): Promise<void> {
    const before = this.#merged;
    if (this.#samplesMerged) this.#merged = await this.#weights.merged();
    if (isBaseNew) this.#quantized?.refresh(this.#weights.base);
    this.#engine.reset(this.#sampled, this.#version, inFlight);
    for (const copy of Object.values(before)) copy.dispose();
  }

  /** Drops the optimizer's state, as at the start of another training stage. */
  resetOptimizer(): void {
    this.#training.reset();
  }

  async save(
    directory: string,
    options: { optimizer?: boolean } & WriteWeightsOptions = {},
  ): Promise<void> {
    const write = (file: string, json: unknown) =>
      writeText(directory, file, `${JSON.stringify(json, null, 2)}\n`);
    const { endOfTurn, files } = this.processor;
    await this.#weights.save(directory, endOfTurn, options);
    await write('generation_config.json', { eos_token_id: endOfTurn, do_sample: true });
    const model_max_length = this.model.maxPositions;
    const tokenizerConfig = { model_max_length, ...files.tokenizerConfig };
    await writeProcessorFiles(directory, { ...files, tokenizerConfig });
    if (options.optimizer === true) await this.#training.save(directory, this.#version);
  }

  /**
   * Reads what `save` wrote: weights, or the adapter of a policy that has one.
   *
   * @throws DataError if the directory is damaged, or of another model or base
   */
  async load(directory: string, options: { optimizer?: boolean } = {}): Promise<void> {
    this.#engine.expectIdle();
    await this.#weights.load(directory);
    this.#training.clearGradients();
    if (options.optimizer === true) this.#version = await this.#training.load(directory);
    await this.#resetEngine(true);
  }

  dispose(): void {
    this.#engine.dispose();
    this.#training.dispose();
    for (const copy of Object.values(this.#merged)) copy.dispose();
    this.#quantized?.dispose();
    this.#weights.dispose();
  }

  #score(
    parameters: Parameters,
    batch: PackedBatch,
    temperature: number,
    options?: ScoreOptions,
  ): ScoredTensors {
    const { device, model } = this;
    const plan = planOf(batch);
    return scorePacked(device, parameters, model, plan, batch, temperature, options);
  }
}

/** @throws ConfigError  if the tokenizer has tokens that the model does not */
export function expectVocabulary(
  { codec }: CheckpointProcessor,
  { vocabSize }: LanguageModel,
): void {
  if (codec.vocabSize <= vocabSize) return;
  throw new ConfigError(
    'vocabSize',
    `The tokenizer has ${codec.vocabSize} tokens, the model ${vocabSize}. ` +
      'Use the tokenizer the model was made for, or a larger vocabSize.',
  );
}

/** Reads all at once, so that the device is awaited once. */
async function readScores(scored: ScoredTensors, { targets }: PackedBatch): Promise<Scores> {
  const read = async (one: Tensor): Promise<Float32Array> => (await one.read()) as Float32Array;
  const [logprobs, entropy, values, sharpened] = await Promise.all([
    read(scored.logprobs),
    read(scored.entropy),
    scored.values && read(scored.values),
    scored.sharpened && read(scored.sharpened),
  ]);
  return {
    logprobs,
    entropy,
    ...(values && { values }),
    ...(sharpened && { sumSquaredProbs: sumSquaredProbs(targets, logprobs, sharpened) }),
  };
}

function planOf({ segments }: PackedBatch): SegmentPlan {
  const table = new Int32Array(segments.length * 3);
  let start = 0;
  segments.forEach(({ tokens, parent }, s) => {
    table.set([start, start + tokens.length, parent], s * 3);
    start += tokens.length;
  });
  return planSegments(table);
}
