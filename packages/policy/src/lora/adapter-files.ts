/** Adapters on disk, in the layout of peft. */
import { DataError, type DType, formatShape, sameShape } from '@saccade/core';
import { isHubName } from '@saccade/hub/source';
import { loraNames } from '@saccade/nn';
import type { ParameterDType } from '@saccade/nn/files';
import type { Device } from '@saccade/ops';
import { type Tensor, tensor } from '@saccade/tensor';
import { readArrays, readJson, readMetadata, writeParameterFile, writeText } from '#disk';
import type { LanguageModel } from '../models/language-model.ts';
import { type AdaptedLayer, Adapter, adapterSpecs, storedLayers } from './adapter.ts';
import {
  formatPeftConfig,
  PEFT_CONFIG,
  PEFT_WEIGHTS,
  type PeftConfig,
  parsePeftConfig,
} from './peft-config.ts';

/** The base of an adapter. */
export interface AdapterBase {
  readonly model: LanguageModel;
  /** Path, or name of a hub; absent for random weights. */
  readonly name?: string;
  readonly revision?: string;
  /** Of `fingerprintOf`. */
  readonly fingerprint: string;
  /** The element type that its files were loaded in. */
  readonly dtype: ParameterDType;
}

/** peft wraps the model that it adapts twice. */
const PREFIX = 'base_model.model.';
/** Where the header of the weights has the fingerprint of their base, and its element type. */
const BASE = 'saccade.base';
const DTYPE = 'saccade.dtype';

/** A layer's name in transformers: the longest of those that begin where the model does. */
function transformersName({ storedAs: _, alternatives }: LanguageModel, layer: string): string {
  const names = [layer, ...alternatives(`${layer}.weight`).map((name) => name.slice(0, -7))];
  const nested = names.filter((name) => name.startsWith('model.'));
  return nested.sort((a, b) => b.length - a.length)[0] ?? layer;
}

/** Every module of a model by its name in transformers: those with parameters, and those around them. */
function modulesOf(model: LanguageModel): ReadonlySet<string> {
  const modules = new Set<string>();
  for (const { name } of model.specs) {
    const parameter = model.storedAs(name).name;
    let module = transformersName(model, parentOf(parameter));
    for (; module !== '' && !modules.has(module); module = parentOf(module)) modules.add(module);
  }
  return modules;
}

function parentOf(name: string): string {
  return name.slice(0, Math.max(0, name.lastIndexOf('.')));
}

/** Writes an adapter as peft does; peft and engines open it on the base. */
export async function writeAdapter(
  directory: string,
  adapter: Adapter,
  { model, fingerprint, dtype, ...base }: AdapterBase,
): Promise<void> {
  const inTransformers = ({ name }: { readonly name: string }) => transformersName(model, name);
  const layers = adapter.layers.map((layer) => {
    return { name: inTransformers(layer), scale: layer.scale };
  });
  const adapted = new Set(layers.map(({ name }) => name));
  const others = [...modulesOf(model)].filter((name) => !adapted.has(name));
  const config = formatPeftConfig(layers, others, base);
  const tensors = adapter.layers.flatMap((layer) => {
    const [own, theirs] = [loraNames(layer.name), loraNames(inTransformers(layer))];
    return [
      { name: PREFIX + theirs.a, parameters: [own.a] },
      { name: PREFIX + theirs.b, parameters: [own.b] },
    ];
  });
  await writeParameterFile(directory, PEFT_WEIGHTS, adapter.weights, tensors, {
    metadata: { [BASE]: fingerprint, [DTYPE]: dtype },
  });
  await writeText(directory, PEFT_CONFIG, `${JSON.stringify(config, null, 2)}\n`);
}

/** The base that an adapter's configuration names. @throws DataError if it is not supported */
export async function readPeftConfig(directory: string): Promise<PeftConfig> {
  return parsePeftConfig(await readJson(directory, PEFT_CONFIG), directory);
}

/** The element type in which a base had an adapter trained on it. */
export async function readBaseDtype(directory: string): Promise<ParameterDType> {
  const { [DTYPE]: dtype } = await readMetadata(directory, PEFT_WEIGHTS);
  return dtype === 'f32' || dtype === 'bf16' ? dtype : 'checkpoint';
}

/**
 * Reads an adapter that `writeAdapter` or peft wrote.
 *
 * @param dtype  of activations, in which it is computed
 * @throws DataError if it belongs to another base, or is damaged
 */
export async function readAdapter(
  device: Device,
  directory: string,
  base: Omit<AdapterBase, 'dtype'>,
  dtype: DType = 'f32',
): Promise<Adapter> {
  const config = await readPeftConfig(directory);
  await expectBase(directory, config, base);
  const arrays = await readArrays(directory, PEFT_WEIGHTS);
  const layers = layersIn(directory, [...arrays.keys()], config, base);
  const found = new Map<string, Tensor>();
  try {
    for (const { name, shape } of adapterSpecs(layers)) {
      const [stored, array] =
        [...arrays].find(([key]) => keysOf(base.model, name).includes(key)) ?? [];
      if (array === undefined || !sameShape(array.shape, shape)) {
        const got = array === undefined ? 'none' : formatShape(array.shape);
        throw otherBase(
          directory,
          base,
          `${stored ?? name} must be ${formatShape(shape)}, got ${got}`,
        );
      }
      found.set(name, tensor(device, dtype, shape, array.data));
    }
  } catch (error) {
    for (const one of found.values()) one.dispose();
    throw error;
  }
  return new Adapter(device, layers, Object.fromEntries(found));
}

/** The names under which a file may have a matrix: `<layer>.lora_A.weight` by its stored layer. */
function keysOf({ alternatives }: LanguageModel, name: string): readonly string[] {
  const at = name.search(/\.lora_[AB]\.weight$/);
  const [layer, matrix] = [name.slice(0, at), name.slice(at)];
  const layers = [layer, ...alternatives(`${layer}.weight`).map((other) => other.slice(0, -7))];
  return layers.map((one) => PREFIX + one + matrix);
}

/** The layers that a file adapts. @throws DataError if the base lacks one */
function layersIn(
  directory: string,
  keys: readonly string[],
  config: PeftConfig,
  base: Omit<AdapterBase, 'dtype'>,
): readonly AdaptedLayer[] {
  const layers: AdaptedLayer[] = [];
  const known = new Set<string>();
  for (const layer of storedLayers(base.model)) {
    const names = keysOf(base.model, loraNames(layer.name).a);
    if (!names.some((name) => keys.includes(name))) continue;
    layers.push({ ...layer, scale: config.scaleOf(transformersName(base.model, layer.name)) });
    for (const name of [...names, ...keysOf(base.model, loraNames(layer.name).b)]) known.add(name);
  }
  const unknown = keys.find((key) => !known.has(key));
  if (unknown !== undefined) {
    throw otherBase(directory, base, `it has no linear layer for ${unknown}`);
  }
  return layers;
}

/** @throws DataError if the adapter was trained on another base */
async function expectBase(
  directory: string,
  config: PeftConfig,
  base: Omit<AdapterBase, 'dtype'>,
): Promise<void> {
  const { [BASE]: fingerprint } = await readMetadata(directory, PEFT_WEIGHTS);
  if (fingerprint !== undefined) {
    if (fingerprint === base.fingerprint) return;
    throw otherBase(directory, base, `it was trained on other weights${named(config)}`);
  }
  const isOther =
    config.base !== undefined &&
    base.name !== undefined &&
    isHubName(config.base) &&
    isHubName(base.name) &&
    config.base !== base.name;
  if (isOther) throw otherBase(directory, base, `it was trained on ${config.base}`);
}

const named = ({ base }: PeftConfig) => (base === undefined ? '' : `, ${base}`);

function otherBase(
  directory: string,
  { name, model }: Pick<AdapterBase, 'name' | 'model'>,
  why: string,
): DataError {
  const base = name ?? `this ${model.architecture}`;
  return new DataError(
    `The adapter in ${directory} is not one of ${base}: ${why}. Load it on the base that it was ` +
      'trained on.',
  );
}
