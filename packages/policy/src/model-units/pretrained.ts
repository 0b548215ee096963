/** A published checkpoint: of a directory, or of a Hugging Face hub. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { ConfigError } from '@saccade/core';
import { choice, flag, optionalText } from '@saccade/core/settings';
import { type FetchOptions, fetchModel, type Hub, isHubName, parseModelSource } from '@saccade/hub';
import { z } from 'zod';
import { readJson } from '#disk';
import { readModel } from '../architecture-registry.ts';
import type { LoraSettings } from '../lora/adapter.ts';
import { readPeftConfig } from '../lora/adapter-files.ts';
import { defineModel } from '../model-unit.ts';
import type { LanguageModel } from '../models/language-model.ts';
import { dtypeOf } from '../models/stored-config.ts';
import { type LoadOptions, loadLocalPolicy } from '../open-policy.ts';
import { loadProcessor } from '../processor/load-processor.ts';
import { trainingFields, trainingOptions } from './training-fields.ts';

const FIELD = 'model.from';

export const pretrained = defineModel({
  name: 'pretrained',
  description: 'A checkpoint in Hugging Face’s layout: of a directory, or of a hub.',
  settings: z.strictObject({
    from: z.string().min(1).meta({
      unit: 'path or name',
      description: 'A directory, or hf:owner/name or hf:owner/name@revision of a hub.',
    }),
    dtype: choice(['checkpoint', 'f32', 'bf16'], {
      default: 'checkpoint',
      about: 'Element type of weights, activations and adapters; sums and moments are f32.',
    }),
    adapter: optionalText({
      unit: 'directory',
      about: 'A LoRA adapter, as peft saves it, to go on from; it has its own rank and targets.',
    }),
    localFilesOnly: flag({
      default: false,
      about: 'Whether a model of a hub is taken from the cache alone, as with HF_HUB_OFFLINE=1.',
    }),
    ...trainingFields,
  }),
  async plan(settings, { hub }) {
    const { directory } = await findCheckpoint(settings, hub, { weights: false });
    const config = await readJson(directory, 'config.json');
    const model = readModel(config);
    const { dtype, adapter } = settings;
    const training = trainingOptions(settings, model);
    return {
      model,
      processor: await loadProcessor(directory),
      dtype: dtype === 'checkpoint' ? dtypeOf(config) : dtype,
      training: adapter === undefined ? training : { ...training, lora: await loraLike(adapter) },
    };
  },
  async open(settings, { device, seed, valueHead, hub }) {
    const { dtype, adapter } = settings;
    const found = await findCheckpoint(settings, hub);
    const { directory } = found;
    const model = await readArchitecture(directory);
    return await loadLocalPolicy({
      ...found,
      device,
      dtype,
      seed,
      valueHead,
      ...trainingOptions(settings, model),
      ...(adapter !== undefined && { adapterDirectory: resolve(adapter) }),
    });
  },
});

/** An adapter of the rank of one on disk, on all layers of the language model: at least as large. */
async function loraLike(directory: string): Promise<LoraSettings> {
  const config = await readPeftConfig(resolve(directory));
  return { ...config.scaleOf(''), targets: { language: ['all-linear'] } };
}

/** @throws ConfigError  if it is an architecture that is not known */
async function readArchitecture(directory: string): Promise<LanguageModel> {
  return readModel(await readJson(directory, 'config.json'));
}

/**
 * The directory of a checkpoint, and the name by which adapters know it.
 *
 * @throws ConfigError  if there is no such directory, or no such model
 */
async function findCheckpoint(
  { from, localFilesOnly }: { readonly from: string; readonly localFilesOnly: boolean },
  hub: Hub | undefined,
  options: FetchOptions = {},
): Promise<Pick<LoadOptions, 'directory' | 'origin'>> {
  const source = parseModelSource(from, FIELD);
  if (source.kind === 'directory') {
    const directory = resolve(source.directory);
    if (existsSync(directory)) return { directory, origin: { name: directory } };
    const remedy = isHubName(from)
      ? `For the model of a hub write hf:${from}.`
      : 'Give the directory of a checkpoint, or hf:owner/name.';
    throw new ConfigError(FIELD, `${FIELD}: there is no directory ${directory}. ${remedy}`);
  }
  if (hub === undefined) {
    throw new ConfigError(
      FIELD,
      `${FIELD}: there is no hub to take ${from} from. Give a directory, or pass a hub to the model.`,
    );
  }
  const { name, revision } = source;
  // Before gigabytes arrive that nothing here can run.
  const isOffline = hub.isOffline || localFilesOnly;
  const wanted = { ...options, check: readArchitecture };
  const directory = await fetchModel({ ...hub, isOffline }, source, wanted);
  return { directory, origin: { name, revision } };
}
