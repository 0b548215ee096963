/** Which tensors the files of a checkpoint have, and which parameters those tensors hold. */
import { bytesOf } from '@saccade/core';
import { type Parameters, parameter } from './parameters.ts';
import { writesTransposed } from './transposed.ts';

/** The file of weights that are not sharded. */
export const WEIGHTS = 'model.safetensors';

/** How a model's parameters are named and joined in files. */
export interface StoredNames {
  /**
   * The tensor that holds a parameter, and which part of its rows where several parameters of one
   * shape are fused in it. `isTransposed`: published files have the matrices of its last two axes
   * transposed; others may have them as they are.
   */
  storedAs(parameter: string): {
    readonly name: string;
    readonly part?: { readonly index: number; readonly of: number };
    readonly isTransposed?: boolean;
  };
  /** Other names that the stored tensor has in some checkpoints. */
  alternatives(name: string): readonly string[];
}

/** A tensor of a file, and the parameters whose rows follow one another in it. */
export interface LaidOutTensor {
  readonly name: string;
  readonly parameters: readonly string[];
  /** Whether the file has the matrices of the one parameter transposed. */
  readonly isTransposed?: boolean;
}

/** The files of a checkpoint, with their tensors in order. */
export interface WeightLayout {
  readonly files: readonly {
    readonly name: string;
    readonly tensors: readonly LaidOutTensor[];
  }[];
}

/**
 * The layout of a new checkpoint: tensors in the order of the parameters, in one file, or in shards
 * named like those of transformers.
 *
 * @param options.maxShardBytes  size of a shard; a larger tensor has one of its own. Default: one
 *   file
 * @param options.file           name of the one file. Default `model.safetensors`
 */
export function layoutOf(
  parameters: Parameters,
  names: StoredNames,
  options: { readonly maxShardBytes?: number; readonly file?: string } = {},
): WeightLayout {
  const { maxShardBytes = Number.POSITIVE_INFINITY, file = WEIGHTS } = options;
  const partsOf = new Map<string, string[]>();
  const transposed = new Set<string>();
  for (const [own, { shape }] of Object.entries(parameters)) {
    const { name, part, isTransposed = false } = names.storedAs(own);
    const parts = partsOf.get(name) ?? [];
    parts[part?.index ?? 0] = own;
    partsOf.set(name, parts);
    if (isTransposed && writesTransposed(shape)) transposed.add(name);
  }
  const shards: LaidOutTensor[][] = [[]];
  let shardBytes = 0;
  for (const [name, parts] of partsOf) {
    const sizeBytes = parts.reduce((sum, part) => {
      const { size, dtype } = parameter(parameters, part);
      return sum + size * bytesOf(dtype);
    }, 0);
    if (shardBytes > 0 && shardBytes + sizeBytes > maxShardBytes) {
      shards.push([]);
      shardBytes = 0;
    }
    shards.at(-1)?.push({
      name,
      parameters: parts,
      ...(transposed.has(name) && { isTransposed: true }),
    });
    shardBytes += sizeBytes;
  }
  const number = (n: number) => String(n).padStart(5, '0');
  const files = shards.map((tensors, i) => ({
    name:
      shards.length === 1 ? file : `model-${number(i + 1)}-of-${number(shards.length)}.safetensors`,
    tensors,
  }));
  return { files };
}
