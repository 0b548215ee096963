/** The weights of a policy: the model's, its value head's and its adapter's, on a device and on disk. */
import { ConfigError, DataError, formatShape, sameShape } from '@saccade/core';
import { layoutOf, type Parameters, type WeightLayout } from '@saccade/nn';
import type { ParameterDType } from '@saccade/nn/files';
import type { Device } from '@saccade/ops';
import type { Tensor } from '@saccade/tensor';
import { findDirectory, hasFile, loadWeights, readJson, writeText, writeWeights } from '#disk';
import type { Adapter } from './lora/adapter.ts';
import {
  type AdapterBase,
  readAdapter,
  readPeftConfig,
  writeAdapter,
} from './lora/adapter-files.ts';
import { fingerprintOf } from './lora/base-fingerprint.ts';
import { mergedWeight } from './lora/merge.ts';
import { PEFT_CONFIG } from './lora/peft-config.ts';
import { activationDtype } from './models/activation-dtype.ts';
import type { Json } from './models/config-fields.ts';
import type { LanguageModel } from './models/language-model.ts';
import { withDtype } from './models/stored-config.ts';
import { isValueHeadName } from './models/value-head.ts';
import { readValueHead, writeValueHead } from './models/value-head-file.ts';

const CONFIG = 'config.json';
/** Either of these is in a directory with whole weights. */
const WEIGHT_FILES = ['model.safetensors', 'model.safetensors.index.json'];

/** Where a model's weights came from; a save keeps to it. */
export interface WeightOrigin {
  /** Path, or name of a hub, by which others find the weights; absent for random ones. */
  readonly name?: string;
  /** Of a hub. */
  readonly revision?: string;
  /** The files they were in. */
  readonly layout?: WeightLayout;
  /** Their `config.json`. */
  readonly config?: Json;
}

/** The parts of a policy's weights; `PolicyWeights` takes ownership of tensors. */
export interface WeightParts {
  readonly device: Device;
  readonly model: LanguageModel;
  /** The model's, and the value head's if there is one, by name. */
  readonly parameters: Record<string, Tensor>;
  /** The element type that `load` gives the model's. Default `checkpoint`. */
  readonly dtype?: ParameterDType;
  readonly adapter?: Adapter;
  readonly origin?: WeightOrigin;
  /**
   * Names of the parameters that train; a value head always does. Default: those of the adapter,
   * else all.
   */
  readonly trainable?: readonly string[];
}

/** How weights are written. */
export interface WriteWeightsOptions {
  /** Whole weights with the adapter added, for engines that take no adapters. Default false. */
  readonly merged?: boolean;
  /** Most bytes of a file, for weights that came from none. Default: one file. */
  readonly maxShardBytes?: number;
}

/** True of a directory with whole weights. */
export function hasWeights(directory: string): boolean {
  return WEIGHT_FILES.some((file) => hasFile(directory, file));
}

/** True of a directory with an adapter. */
export function hasAdapter(directory: string): boolean {
  return hasFile(directory, PEFT_CONFIG);
}

/** Reads whole weights, the value head among them if there is one. */
export async function readModelWeights(
  device: Device,
  directory: string,
  model: LanguageModel,
  dtype: ParameterDType,
): Promise<{ readonly parameters: Record<string, Tensor>; readonly origin: WeightOrigin }> {
  const config = await readJson(directory, CONFIG);
  const read = await loadWeights(device, directory, model.specs, { names: model, dtype });
  return { parameters: read.parameters, origin: { layout: read.layout, config } };
}

export class PolicyWeights {
  /** Names of the tensors that train, in order. */
  readonly trainable: readonly string[];
  readonly #device: Device;
  readonly #model: LanguageModel;
  readonly #parameters: Record<string, Tensor>;
  readonly #dtype: ParameterDType;
  #adapter: Adapter | undefined;
  #origin: WeightOrigin;
  #fingerprint: Promise<string> | undefined;

  /** @throws ConfigError  if a trainable name is not a parameter's, or is frozen below an adapter */
  constructor(parts: WeightParts) {
    const { device, model, parameters, dtype = 'checkpoint', adapter, origin = {} } = parts;
    this.#device = device;
    this.#model = model;
    this.#parameters = parameters;
    this.#dtype = dtype;
    this.#adapter = adapter;
    this.#origin = origin;
    this.trainable = trainableNames(this.all, adapter, parts.trainable);
  }

  /** Every tensor by name: the model's, the value head's, and the adapter's by stored layers. */
  get all(): Readonly<Record<string, Tensor>> {
    return { ...this.#parameters, ...this.#adapter?.weights };
  }

  /** What a forward takes. */
  get forward(): Parameters {
    return { ...this.#parameters, ...this.#adapter?.views() };
  }

  /** What a forward without the adapter takes. */
  get base(): Parameters {
    return this.#parameters;
  }

  get hasAdapter(): boolean {
    return this.#adapter !== undefined;
  }

  /** The tensors that train, by name. */
  get trained(): Readonly<Record<string, Tensor>> {
    const { all } = this;
    return Object.fromEntries(this.trainable.map((name) => [name, all[name] as Tensor]));
  }

  /** Copies of the adapted weights with the adapter added, by name. The caller frees them. */
  async merged(): Promise<Record<string, Tensor>> {
    const { forward } = this;
    const merged: Record<string, Tensor> = {};
    for (const name of Object.keys(this.#parameters)) {
      const weight = await mergedWeight(forward, name);
      if (weight !== undefined) merged[name] = weight;
    }
    return merged;
  }

  /** Writes configuration and weights: of a policy with an adapter that alone, unless merged. */
  async save(
    directory: string,
    endOfTurn: number,
    { merged = false, maxShardBytes }: WriteWeightsOptions = {},
  ): Promise<void> {
    const { model, valueHead } = separated(this.#parameters);
    const stored = this.#origin.config ?? this.#model.configJson(endOfTurn);
    const [first] = Object.values(model);
    const config = first === undefined ? stored : withDtype(stored, first.dtype);
    await writeText(directory, CONFIG, `${JSON.stringify(config, null, 2)}\n`);
    const adapter = merged ? undefined : this.#adapter;
    if (adapter !== undefined) await writeAdapter(directory, adapter, await this.#asBase());
    // An adapter goes without its base only where the base has a name to be found by.
    if (adapter === undefined || this.#origin.name === undefined) {
      const { forward } = this;
      const sharding = maxShardBytes === undefined ? {} : { maxShardBytes };
      const layout = this.#origin.layout ?? layoutOf(model, this.#model, sharding);
      const instead = (name: string) => mergedWeight(forward, name);
      await writeWeights(directory, model, layout, merged ? { instead } : {});
    }
    await writeValueHead(directory, valueHead);
  }

  /**
   * Reads what `save` wrote. Whole weights become the base of an adapter, which then adds what it
   * did before. A value head restarts at 0 if the directory has none.
   *
   * @throws DataError if the directory is damaged, or its adapter is one of another base or shape
   */
  async load(directory: string): Promise<void> {
    if (!hasAdapter(directory)) {
      await this.#loadBase(directory, this.hasAdapter ? directory : undefined);
    } else {
      const before = this.#adapter;
      if (before === undefined) {
        throw new DataError(
          `${directory} has an adapter, and the policy has none. Open it with one (model.lora), ` +
            'or load whole weights.',
        );
      }
      const { base } = await readPeftConfig(directory);
      const other = base === undefined ? undefined : findDirectory(base, directory);
      if (hasWeights(directory)) await this.#loadBase(directory, undefined);
      else if (other !== undefined && other !== this.#origin.name) {
        await this.#loadBase(other, other);
      }
      const read = await readAdapter(
        this.#device,
        directory,
        await this.#asBase(),
        activationDtype(this.#parameters),
      );
      expectSameShape(directory, before, read);
      before.dispose();
      this.#adapter = read;
    }
    if (!Object.keys(this.#parameters).some(isValueHeadName)) return;
    const dtype = activationDtype(this.#parameters);
    this.#replace(await readValueHead(this.#device, directory, this.#model.hidden, dtype));
  }

  /**
   * The base with the adapter of another directory, for scores: shared memory but for the adapter's.
   *
   * @throws DataError if the directory has no adapter of this base
   */
  async withAdapterOf(
    directory: string,
  ): Promise<{ readonly parameters: Parameters; dispose(): void }> {
    const dtype = activationDtype(this.#parameters);
    const adapter = await readAdapter(this.#device, directory, await this.#asBase(), dtype);
    const { model } = separated(this.#parameters);
    // An adapter that adds nothing yet would only cost time.
    if (await adapter.isZero()) {
      adapter.dispose();
      return { parameters: model, dispose() {} };
    }
    return {
      parameters: { ...model, ...adapter.views() },
      dispose: () => adapter.dispose(),
    };
  }

  dispose(): void {
    this.#adapter?.dispose();
    for (const weight of Object.values(this.#parameters)) weight.dispose();
  }

  async #loadBase(directory: string, name: string | undefined): Promise<void> {
    const read = await readModelWeights(this.#device, directory, this.#model, this.#dtype);
    this.#replace(read.parameters);
    this.#origin = { ...read.origin, ...(name !== undefined && { name }) };
    this.#fingerprint = undefined;
  }

  #replace(weights: Readonly<Record<string, Tensor>>): void {
    for (const [name, weight] of Object.entries(weights)) {
      this.#parameters[name]?.dispose();
      this.#parameters[name] = weight;
    }
  }

  async #asBase(): Promise<AdapterBase> {
    this.#fingerprint ??= fingerprintOf(separated(this.#parameters).model);
    const { name, revision } = this.#origin;
    return {
      model: this.#model,
      fingerprint: await this.#fingerprint,
      dtype: this.#dtype,
      ...(name !== undefined && { name }),
      ...(revision !== undefined && { revision }),
    };
  }
}

/** The model's parameters, and the value head's. */
function separated(parameters: Readonly<Record<string, Tensor>>) {
  const entries = Object.entries(parameters);
  return {
    model: Object.fromEntries(entries.filter(([name]) => !isValueHeadName(name))),
    valueHead: Object.fromEntries(entries.filter(([name]) => isValueHeadName(name))),
  };
}

/** The names that train, in the order of the parameters. */
function trainableNames(
  all: Readonly<Record<string, Tensor>>,
  adapter: Adapter | undefined,
  given: readonly string[] | undefined,
): readonly string[] {
  const names = Object.keys(all);
  if (adapter !== undefined) {
    const adapting = Object.keys(adapter.weights);
    const isTrained = (name: string) => adapting.includes(name) || isValueHeadName(name);
    const frozen = given?.find((name) => !isTrained(name));
    if (frozen === undefined) return names.filter(isTrained);
    throw new ConfigError(
      'trainable',
      `trainable: "${frozen}" is frozen below the adapter. Leave trainable out, or train without one.`,
    );
  }
  const trainable = given ?? names;
  const unknown = trainable.find((name) => !Object.hasOwn(all, name));
  if (unknown !== undefined) {
    throw new ConfigError(
      'trainable',
      `There is no parameter "${unknown}" to train. Known: ${names.join(', ')}.`,
    );
  }
  // A value head that does not learn would predict 0 for ever.
  return names.filter((name) => trainable.includes(name) || isValueHeadName(name));
}

/** @throws DataError if the state of training of one adapter would not fit the other */
function expectSameShape(directory: string, own: Adapter, read: Adapter): void {
  for (const name of new Set([...Object.keys(own.weights), ...Object.keys(read.weights)])) {
    const [mine, theirs] = [own.weights[name]?.shape, read.weights[name]?.shape];
    if (mine !== undefined && theirs !== undefined && sameShape(mine, theirs)) continue;
    read.dispose();
    const shown = (shape: readonly number[] | undefined) => (shape ? formatShape(shape) : 'none');
    throw new DataError(
      `The adapter in ${directory} has "${name}" as ${shown(theirs)}, the policy as ${shown(mine)}. ` +
        'Open the policy with the same rank and targets.',
    );
  }
}
