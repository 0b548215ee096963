/** Makes local policies: with random weights, or those of a directory in Hugging Face layout. */
import { DataError } from '@saccade/core';
import { initialize } from '@saccade/nn';
import type { ParameterDType } from '@saccade/nn/files';
import type { Device } from '@saccade/ops';
import { findDirectory, readJson } from '#disk';
import { readModel } from './architecture-registry.ts';
import { expectVocabulary, LocalPolicy } from './local-policy.ts';
import { Adapter, adaptedLayers, type LoraSettings } from './lora/adapter.ts';
import { readAdapter, readBaseDtype, readPeftConfig } from './lora/adapter-files.ts';
import { fingerprintOf } from './lora/base-fingerprint.ts';
import { activationDtype } from './models/activation-dtype.ts';
import type { LanguageModel } from './models/language-model.ts';
import { valueHeadSpecs } from './models/value-head.ts';
import { hasValueHead, readValueHead } from './models/value-head-file.ts';
import { hasAdapter, hasWeights, readModelWeights, type WeightOrigin } from './policy-weights.ts';
import type { CheckpointProcessor } from './processor/checkpoint-processor.ts';
import { loadProcessor } from './processor/load-processor.ts';

/** How a policy trains. */
export interface TrainingOptions {
  /** Names of the parameters that train; the others are constants. Default: all train. */
  readonly trainable?: readonly string[];
  /** Trains low-rank adapters beside frozen weights. Default: none. */
  readonly lora?: LoraSettings;
  /** Runs the model's blocks again in the backward, to save memory. Default false. */
  readonly recompute?: boolean;
  /** Draws samples from copies of the weights with the adapter added. Default false. */
  readonly samplesMerged?: boolean;
}

/** The parts from which `createLocalPolicy` makes a policy. */
export interface LocalPolicyOptions extends TrainingOptions {
  /** Where weights and caches live; the caller disposes of it after the policy. */
  readonly device: Device;
  readonly model: LanguageModel;
  /** Its tokenizer must not be larger than the model's `vocabSize`. */
  readonly processor: CheckpointProcessor;
  /** Seed of the random weights. */
  readonly seed: number;
  /** Element type of the weights. Default f32. */
  readonly dtype?: 'f32' | 'bf16';
  /** Whether the policy also predicts returns, for algorithms with a value loss. Default false. */
  readonly valueHead?: boolean;
}

/** Creates a policy with random weights. @throws ConfigError if the options do not fit the model */
export function createLocalPolicy(options: LocalPolicyOptions): LocalPolicy {
  const { device, model, seed, dtype = 'f32', valueHead = false, lora } = options;
  const layers = lora && adaptedLayers(model, lora);
  const parameters = initialize(device, model.specs, seed, dtype);
  if (valueHead) {
    Object.assign(parameters, initialize(device, valueHeadSpecs(model.hidden), seed, dtype));
  }
  const adapter = layers && Adapter.create(device, layers, seed, dtype);
  return new LocalPolicy({ ...options, parameters, dtype, ...(adapter && { adapter }) });
}

/** The directory that `loadLocalPolicy` reads, and how the policy is to train. */
export interface LoadOptions extends TrainingOptions {
  readonly device: Device;
  /** Whole weights, or an adapter whose base is found by `findBase`. */
  readonly directory: string;
  /** Element type of the weights. Default that of the files. */
  readonly dtype?: ParameterDType;
  /** Whether the policy also predicts returns. Default: if the directory has a value head. */
  readonly valueHead?: boolean;
  /** Seed of a new adapter. Default 0. */
  readonly seed?: number;
  /** Name and revision by which adapters know these weights. Default: the directory. */
  readonly origin?: Pick<WeightOrigin, 'name' | 'revision'>;
  /** An adapter to go on from, in the place of a new one. */
  readonly adapterDirectory?: string;
  /** The directory of an adapter's base on a hub. Default: only paths are found. */
  readonly findBase?: (name: string, revision: string | undefined) => Promise<string>;
}

/** Loads a policy from a directory. @throws DataError if it is damaged, ConfigError if unknown */
export async function loadLocalPolicy(options: LoadOptions): Promise<LocalPolicy> {
  const { directory } = options;
  // An adapter may lie beside its base, or name it.
  if (!hasAdapter(directory)) return await loadWhole(options);
  if (hasWeights(directory))
    return await loadWhole({ adapterDirectory: directory, ...options, origin: {} });
  const base = await baseOf(options);
  return await loadWhole({ adapterDirectory: directory, ...options, ...base });
}

async function loadWhole(options: LoadOptions): Promise<LocalPolicy> {
  const { device, directory, dtype = 'checkpoint', lora, seed = 0 } = options;
  const { origin: named = { name: directory }, adapterDirectory } = options;
  const model = readModel(await readJson(directory, 'config.json'));
  const layers = lora && adaptedLayers(model, lora);
  // The tokenizer is read first: a gigabyte later its error would come late.
  const processor = await loadProcessor(directory);
  expectVocabulary(processor, model);
  const { parameters, origin } = await readModelWeights(device, directory, model, dtype);
  const weights = { ...parameters };
  const activations = activationDtype(parameters);
  let adapter: Adapter | undefined;
  try {
    if (adapterDirectory !== undefined) {
      const fingerprint = await fingerprintOf(parameters);
      const base = { model, fingerprint, ...named };
      adapter = await readAdapter(device, adapterDirectory, base, activations);
    } else if (layers !== undefined) {
      adapter = Adapter.create(device, layers, seed, activations);
    }
    const own = adapterDirectory ?? directory;
    if (options.valueHead ?? hasValueHead(own)) {
      Object.assign(weights, await readValueHead(device, own, model.hidden, activations));
    }
    return new LocalPolicy({
      ...options,
      model,
      processor,
      parameters: weights,
      dtype,
      origin: { ...origin, ...named },
      ...(adapter && { adapter }),
    });
  } catch (error) {
    adapter?.dispose();
    for (const weight of Object.values(weights)) weight.dispose();
    throw error;
  }
}

/** The base that an adapter names. @throws DataError if it names none, or it is not there */
async function baseOf({
  directory,
  dtype: given,
  findBase,
}: LoadOptions): Promise<Pick<LoadOptions, 'directory' | 'origin' | 'dtype'>> {
  const { base, revision } = await readPeftConfig(directory);
  const dtype = given ?? (await readBaseDtype(directory));
  if (base === undefined) {
    throw new DataError(
      `The adapter in ${directory} names no base. Open the base, and the adapter on it.`,
    );
  }
  const path = findDirectory(base, directory);
  const origin = { name: path ?? base, ...(revision !== undefined && { revision }) };
  if (path !== undefined) return { directory: path, origin, dtype };
  if (findBase !== undefined) return { directory: await findBase(base, revision), origin, dtype };
  throw new DataError(
    `The adapter in ${directory} needs the base ${base}, which is no directory here. Put it there, ` +
      'or open the base, and the adapter on it.',
  );
}
