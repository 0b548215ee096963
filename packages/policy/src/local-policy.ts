/** The policy on local kernels: one set of weights for sampling, scoring and training. */

import { planSegments, type SegmentPlan } from '@saccade/attention';
import { ConfigError } from '@saccade/core';
import { initialize } from '@saccade/nn';
import type { Device } from '@saccade/ops';
import { adamw } from '@saccade/optim';
import { scope, Tape, type Tensor, tensor } from '@saccade/tensor';
import { hasFile, readArrays, readJson, writeArrays, writeText } from '#disk';
import type { LossFunction, PackedBatch, ScoreOptions, Scores } from './batch.ts';
import type { EngineSettings } from './engine/engine-settings.ts';
import { GenerationEngine, type InFlight } from './engine/generation.ts';
import { formatConfig, type ModelConfig, parseConfig } from './models/config.ts';
import { parameterSpecs } from './models/qwen2-5-vl.ts';
import { isValueHeadName, valueHeadSpecs } from './models/value-head.ts';
import { fuse, loadWeights, placeArrays, toHost } from './models/weights.ts';
import type {
  OptimizerStep,
  OptimizerStepResult,
  Policy,
  SampleRequest,
  SampleResult,
} from './policy.ts';
import { chatTemplate } from './processor/chat-template.ts';
import { loadProcessor } from './processor/load-processor.ts';
import { formatPreprocessor } from './processor/preprocessor-config.ts';
import type { QwenProcessor } from './processor/qwen-processor.ts';
import { type ScoredTensors, scorePacked } from './score.ts';
import { sumSquaredProbs } from './sum-squared-probs.ts';
import { TrainingState } from './training-state.ts';

const VALUE_HEAD_FILE = 'value_head.safetensors';
/** The optimizer of steps that name none. */
const DEFAULT_OPTIMIZER = adamw.create();

/** The parts from which `createLocalPolicy` makes a policy. */
export interface LocalPolicyOptions {
  /** Where weights and caches live; the caller disposes of it after the policy. */
  readonly device: Device;
  readonly config: ModelConfig;
  /** Its tokenizer must not be larger than `config.vocabSize`. */
  readonly processor: QwenProcessor;
  /** Seed of the random weights. */
  readonly seed: number;
  /** Whether the policy also predicts returns, for algorithms with a value loss. Default false. */
  readonly valueHead?: boolean;
  /** Names of the parameters that train; the others are constants. Default: all train. */
  readonly trainable?: readonly string[];
}

/** The parts of a policy, with weights on the device. */
export interface LocalPolicyParts {
  readonly device: Device;
  readonly config: ModelConfig;
  readonly processor: QwenProcessor;
  /** Weights by name; the policy takes ownership. */
  readonly parameters: Record<string, Tensor>;
  /** Names of the parameters that train; the others are constants. Default: all train. */
  readonly trainable?: readonly string[];
}

/** Creates a policy with random weights. */
export function createLocalPolicy(options: LocalPolicyOptions): LocalPolicy {
  const { device, config, processor, seed, valueHead = false, trainable } = options;
  const specs = [...parameterSpecs(config), ...(valueHead ? valueHeadSpecs(config) : [])];
  const parameters = initialize(device, specs, seed);
  return new LocalPolicy({
    device,
    config,
    processor,
    parameters,
    ...(trainable && { trainable }),
  });
}

/** Loads a policy from a directory in Hugging Face layout. @throws DataError if it is damaged */
export async function loadLocalPolicy(options: {
  readonly device: Device;
  readonly directory: string;
  /** Names of the parameters that train. Default: all. */
  readonly trainable?: readonly string[];
}): Promise<LocalPolicy> {
  const { device, directory, trainable } = options;
  const config = parseConfig(await readJson(directory, 'config.json'));
  const processor = await loadProcessor(directory);
  const parameters = await loadWeights(device, directory, parameterSpecs(config));
  if (hasFile(directory, VALUE_HEAD_FILE)) {
    Object.assign(parameters, await loadValueHead(device, directory, config));
  }
  return new LocalPolicy({
    device,
    config,
    processor,
    parameters,
    ...(trainable && { trainable }),
  });
}

/**
 * A Qwen2.5-VL policy on local kernels. Sampling uses continuous batching over a KV cache and a
 * group's prompt is computed once; scoring gives its samples the same log-probs. Create it with
 * `createLocalPolicy` or `loadLocalPolicy`.
 */
export class LocalPolicy implements Policy {
  readonly device: Device;
  readonly config: ModelConfig;
  readonly processor: QwenProcessor;
  #engine: GenerationEngine;
  readonly #parameters: Record<string, Tensor>;
  readonly #training = new TrainingState();
  /** In the order of the parameters. */
  readonly #trainable: readonly string[];
  #version = 0;

  /**
   * @throws ConfigError  if the tokenizer is too large, or a trainable name is not a parameter's
   */
  constructor({ device, config, processor, parameters, trainable }: LocalPolicyParts) {
    if (processor.codec.vocabSize > config.vocabSize) {
      throw new ConfigError(
        'vocabSize',
        `The tokenizer has ${processor.codec.vocabSize} tokens, the model ${config.vocabSize}. ` +
          'Use the tokenizer the model was made for, or a larger vocabSize.',
      );
    }
    this.device = device;
    this.config = config;
    this.processor = processor;
    this.#parameters = parameters;
    this.#trainable = trainableNames(parameters, trainable);
    this.#engine = new GenerationEngine(device, config, processor, parameters);
  }

  get version(): number {
    return this.#version;
  }

  /** Weights by name. Do not write to them. */
  get parameters(): Readonly<Record<string, Tensor>> {
    return this.#parameters;
  }

  /** Names of the parameters that train. */
  get trainable(): readonly string[] {
    return this.#trainable;
  }

  /** Number of weights, over all parameters. */
  get parameterCount(): number {
    return Object.values(this.#parameters).reduce((sum, { size }) => sum + size, 0);
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
   * Changes how it samples: memory, chunks of prompts. Caches are dropped.
   *
   * @throws StateError while requests run
   */
  configureEngine(settings: Partial<EngineSettings>): void {
    this.#engine.expectIdle();
    this.#engine.dispose();
    const { device, config, processor } = this;
    this.#engine = new GenerationEngine(device, config, processor, this.#parameters, settings);
    this.#engine.reset(this.#parameters, this.#version);
  }

  async sample(request: SampleRequest): Promise<SampleResult> {
    return this.#engine.sample(request);
  }

  release(key: string): void {
    this.#engine.release(key);
  }

  async score(batch: PackedBatch, temperature = 1, options: ScoreOptions = {}): Promise<Scores> {
    const scored = scope(() => this.#score(batch, temperature, options));
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
    const names = [...this.#trainable].sort();
    const tracked = names.map((name) => this.#parameters[name] as Tensor);
    const tape = new Tape(tracked);
    try {
      const scored = tape.run(() => this.#score(batch, temperature));
      const scores = await readScores(scored, batch);
      const result = loss(scores);
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
      const gradients = tape.backward(seeds);
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
    const trained = Object.fromEntries(
      this.#trainable.map((name) => [name, this.#parameters[name] as Tensor]),
    );
    const { gradNorm, isSkipped } = await this.#training.step(trained, optimizer, learningRate);
    this.#version++;
    this.#engine.reset(this.#parameters, this.#version, inFlight);
    return { gradNorm, isSkipped };
  }

  /** Drops the optimizer's state, as at the start of another training stage. */
  resetOptimizer(): void {
    this.#training.reset();
  }

  async save(directory: string, options: { optimizer?: boolean } = {}): Promise<void> {
    const write = (file: string, json: unknown) =>
      writeText(directory, file, `${JSON.stringify(json, null, 2)}\n`);
    const { endOfTurn, tokenizerJson, images } = this.processor;
    await write('config.json', formatConfig(this.config, endOfTurn));
    await write('generation_config.json', { eos_token_id: endOfTurn, do_sample: true });
    await write('tokenizer.json', tokenizerJson);
    await write('tokenizer_config.json', {
      tokenizer_class: 'PreTrainedTokenizerFast',
      eos_token: '<|im_end|>',
      pad_token: '<|endoftext|>',
      model_max_length: this.config.maxPositions,
    });
    await write('preprocessor_config.json', formatPreprocessor(images));
    await writeText(directory, 'chat_template.jinja', chatTemplate);
    const arrays = await toHost(this.#parameters);
    // Other libraries do not know a value head in this architecture.
    const valueHead = new Map([...arrays].filter(([name]) => isValueHeadName(name)));
    for (const name of valueHead.keys()) arrays.delete(name);
    await writeArrays(directory, 'model.safetensors', fuse(arrays));
    if (valueHead.size > 0) await writeArrays(directory, VALUE_HEAD_FILE, valueHead);
    if (options.optimizer === true) await this.#training.save(directory, this.#version);
  }

  /** Reads what `save` wrote. A value head restarts at 0 if the directory has none. */
  async load(directory: string, options: { optimizer?: boolean } = {}): Promise<void> {
    this.#engine.expectIdle();
    const loaded = await loadWeights(this.device, directory, parameterSpecs(this.config));
    if (Object.keys(this.#parameters).some(isValueHeadName)) {
      Object.assign(loaded, await loadValueHead(this.device, directory, this.config));
    }
    for (const [name, weight] of Object.entries(loaded)) {
      this.#parameters[name]?.dispose();
      this.#parameters[name] = weight;
    }
    this.#training.clearGradients();
    if (options.optimizer === true) this.#version = await this.#training.load(directory);
    this.#engine.reset(this.#parameters, this.#version);
  }

  dispose(): void {
    this.#engine.dispose();
    this.#training.dispose();
    for (const weight of Object.values(this.#parameters)) weight.dispose();
  }

  #score(batch: PackedBatch, temperature: number, options?: ScoreOptions): ScoredTensors {
    const { device, config } = this;
    const plan = planOf(batch);
    return scorePacked(device, this.#parameters, config, plan, batch, temperature, options);
  }
}

/** The names that train, in the order of the parameters. */
function trainableNames(
  parameters: Readonly<Record<string, Tensor>>,
  trainable: readonly string[] = Object.keys(parameters),
): readonly string[] {
  const unknown = trainable.find((name) => !Object.hasOwn(parameters, name));
  if (unknown !== undefined) {
    throw new ConfigError(
      'trainable',
      `There is no parameter "${unknown}" to train. Known: ${Object.keys(parameters).join(', ')}.`,
    );
  }
  return Object.keys(parameters).filter((name) => trainable.includes(name));
}

/** The value head of a directory, or one that predicts 0 if it has none. */
async function loadValueHead(
  device: Device,
  directory: string,
  config: ModelConfig,
): Promise<Record<string, Tensor>> {
  const specs = valueHeadSpecs(config);
  if (!hasFile(directory, VALUE_HEAD_FILE)) return initialize(device, specs, 0);
  return placeArrays(device, directory, specs, await readArrays(directory, VALUE_HEAD_FILE));
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
