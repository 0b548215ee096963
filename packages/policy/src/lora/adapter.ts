/** A low-rank adapter of a policy: trained matrices beside frozen weights. */
import type { DType } from '@saccade/core';
import {
  initialize,
  type LoraScale,
  type LoraTargets,
  loraNames,
  loraScaleTensor,
  loraSpecs,
  type ParameterSpec,
  type Parameters,
  targetedLayers,
} from '@saccade/nn';
import type { Device } from '@saccade/ops';
import type { Tensor } from '@saccade/tensor';
import type { LanguageModel } from '../models/language-model.ts';
import { type ModelPart, partOf } from '../models/model-parts.ts';

/** How a new adapter is made. */
export interface LoraSettings extends LoraScale {
  /** The linear layers of each part of the model that are adapted; of an absent part none. */
  readonly targets: Readonly<Partial<Record<ModelPart, LoraTargets>>>;
}

/** A linear layer as checkpoints store it: a vision block's fused q, k and v are one. */
export interface StoredLayer {
  /** The stored weight's name without `.weight`. */
  readonly name: string;
  /** Rows of the stored weight, of all its layers. */
  readonly rows: number;
  readonly columns: number;
  /** The model's layers whose weights follow one another in it. */
  readonly layers: readonly string[];
}

/** A stored layer with an adapter, and how much the adapter adds. */
export interface AdaptedLayer extends StoredLayer {
  readonly scale: LoraScale;
}

const WEIGHT = '.weight';

/** The linear layers of a model, in order, as checkpoints store them. */
export function storedLayers(model: LanguageModel): readonly StoredLayer[] {
  const found = new Map<string, { spec: ParameterSpec; layers: string[] }>();
  for (const spec of model.specs) {
    if (spec.isLinear !== true) continue;
    const { name, part } = model.storedAs(spec.name);
    const stored = found.get(name) ?? { spec, layers: [] };
    stored.layers[part?.index ?? 0] = spec.name.slice(0, -WEIGHT.length);
    found.set(name, stored);
  }
  return [...found].map(([name, { spec, layers }]) => {
    const [rows = 0, columns = 0] = spec.shape;
    return { name: name.slice(0, -WEIGHT.length), rows: rows * layers.length, columns, layers };
  });
}

/**
 * The layers that settings adapt.
 *
 * @throws ConfigError  if a target names no layer of its part, or nothing is adapted
 */
export function adaptedLayers(
  model: LanguageModel,
  { targets, ...scale }: LoraSettings,
): readonly AdaptedLayer[] {
  const all = storedLayers(model);
  const chosen = new Set<string>();
  for (const part of ['language', 'merger', 'vision'] as const) {
    const names = all.map(({ name }) => name).filter((name) => partOf(name) === part);
    const field = `model.lora.${part === 'language' ? 'targets' : `${part}Targets`}`;
    for (const name of targetedLayers(names, targets[part] ?? [], field)) chosen.add(name);
  }
  return all.filter(({ name }) => chosen.has(name)).map((layer) => ({ ...layer, scale }));
}

/** Parameters of the adapters of these layers, by stored names. */
export function adapterSpecs(layers: readonly AdaptedLayer[]): readonly ParameterSpec[] {
  return layers.flatMap(({ name, rows, columns, scale }) =>
    loraSpecs(name, rows, columns, scale.rank),
  );
}

/** The matrices of an adapter on a device. */
export class Adapter {
  readonly layers: readonly AdaptedLayer[];
  /**
   * A [r, columns] and B [rows, r] of each layer, by stored name, in the element type of activations.
   * These train.
   */
  readonly weights: Readonly<Record<string, Tensor>>;
  readonly #scales: readonly Tensor[];

  /** @param weights  of `adapterSpecs`; the adapter takes ownership */
  constructor(
    device: Device,
    layers: readonly AdaptedLayer[],
    weights: Readonly<Record<string, Tensor>>,
  ) {
    this.layers = layers;
    this.weights = weights;
    const dtype = Object.values(weights)[0]?.dtype;
    this.#scales = layers.map(({ scale }) => loraScaleTensor(device, scale, dtype));
  }

  /** An adapter that adds nothing yet. */
  static create(
    device: Device,
    layers: readonly AdaptedLayer[],
    seed: number,
    dtype: DType = 'f32',
  ): Adapter {
    return new Adapter(device, layers, initialize(device, adapterSpecs(layers), seed, dtype));
  }

  /** What the model's layers find beside their weights: layers of one stored weight share its A. */
  views(): Parameters {
    const views: Record<string, Tensor> = {};
    this.layers.forEach(({ name, rows, layers }, i) => {
      const own = loraNames(name);
      const part = rows / layers.length;
      layers.forEach((layer, index) => {
        const names = loraNames(layer);
        views[names.a] = this.weights[own.a] as Tensor;
        views[names.b] = (this.weights[own.b] as Tensor).rows(index * part, (index + 1) * part);
        views[names.scale] = this.#scales[i] as Tensor;
      });
    });
    return views;
  }

  /** Whether it adds nothing to any layer. */
  async isZero(): Promise<boolean> {
    for (const { name } of this.layers) {
      const values = await this.weights[loraNames(name).b]?.read();
      if (values?.some((value) => value !== 0)) return false;
    }
    return true;
  }

  dispose(): void {
    for (const one of [...Object.values(this.weights), ...this.#scales]) one.dispose();
  }
}
