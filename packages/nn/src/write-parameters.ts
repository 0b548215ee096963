/** Writes parameters from a device to the files of a checkpoint, in their own element types. */
import { mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { bytesOf, type Shape, type TypedArray } from '@saccade/core';
import type { Tensor } from '@saccade/tensor';
import { INDEX } from './checkpoint.ts';
import { type Parameters, parameter } from './parameters.ts';
import { formatHeader } from './safetensors-header.ts';
import { transpose, transposedShape } from './transposed.ts';
import { type LaidOutTensor, WEIGHTS, type WeightLayout } from './weight-layout.ts';
import { writeDurably } from './write-durably.ts';

/** Bytes of a tensor that are on the host at a time. */
const CHUNK_BYTES: number = 1 << 24;

/**
 * Writes parameters as a layout places them: 16-bit floats stay 16-bit floats, parts of one tensor
 * are fused, and an index names the shard of every tensor unless the one file is
 * `model.safetensors`. Each file is whole or not there; the index is last.
 */
export async function writeParameters(
  directory: string,
  parameters: Parameters,
  { files }: WeightLayout,
  options: WriteOptions = {},
): Promise<void> {
  for (const { name, tensors } of files) {
    await writeParameterFile(join(directory, name), parameters, tensors, options);
  }
  if (files.length === 1 && files[0]?.name === WEIGHTS) {
    await rm(join(directory, INDEX), { force: true });
    return;
  }
  await writeDurably(join(directory, INDEX), [formatIndex(parameters, files)]);
  // A reader would prefer what was there before.
  await rm(join(directory, WEIGHTS), { force: true });
}

/** What a file holds besides parameters as they are. */
export interface WriteOptions {
  /**
   * A tensor to write in the place of a parameter, of the same shape and type; freed after it was
   * written. Undefined: the parameter itself.
   */
  readonly instead?: (name: string) => Promise<Tensor | undefined>;
  /** Texts for the header. */
  readonly metadata?: Readonly<Record<string, string>>;
}

/** Writes one file of parameters. */
export async function writeParameterFile(
  path: string,
  parameters: Parameters,
  tensors: readonly LaidOutTensor[],
  options: WriteOptions = {},
): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeDurably(path, bytesOfFile(parameters, tensors, options));
}

/** The header of a file, then its tensors, a chunk at a time. */
async function* bytesOfFile(
  parameters: Parameters,
  tensors: readonly LaidOutTensor[],
  { instead, metadata }: WriteOptions,
): AsyncGenerator<Uint8Array> {
  const described = tensors.map((tensor) => ({
    name: tensor.name,
    ...describe(parameters, tensor),
  }));
  yield formatHeader(described, metadata);
  for (const { parameters: parts, isTransposed = false } of tensors) {
    for (const part of parts) {
      const other = await instead?.(part);
      const tensor = other ?? parameter(parameters, part);
      yield* isTransposed ? bytesTransposed(tensor) : bytesOfTensor(tensor);
      other?.dispose();
    }
  }
}

async function* bytesOfTensor(tensor: Tensor): AsyncGenerator<Uint8Array> {
  const elements = tensor.reshape([tensor.size]);
  const step = CHUNK_BYTES / bytesOf(tensor.dtype);
  for (let first = 0; first < tensor.size; first += step) {
    const end = Math.min(tensor.size, first + step);
    yield bytesIn(await elements.rows(first, end).readStored());
  }
}

/** A matrix at a time. */
async function* bytesTransposed(tensor: Tensor): AsyncGenerator<Uint8Array> {
  const elements = tensor.reshape([tensor.size]);
  const [rows = 1, columns = 1] = tensor.shape.slice(-2);
  const step = rows * columns;
  for (let first = 0; first < tensor.size; first += step) {
    const matrix = await elements.rows(first, first + step).readStored();
    yield bytesIn(transpose(matrix, rows, columns));
  }
}

function bytesIn({ buffer, byteOffset, byteLength }: TypedArray): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** Element type and shape of a tensor: those of its parts, with their rows after one another. */
function describe(
  parameters: Parameters,
  { parameters: parts, isTransposed = false }: LaidOutTensor,
) {
  const tensors = parts.map((part) => parameter(parameters, part));
  const { dtype, shape } = tensors[0] as Tensor;
  const rows = tensors.reduce((sum, part) => sum + (part.shape[0] ?? 1), 0);
  const joined: Shape = parts.length === 1 ? shape : [rows, ...shape.slice(1)];
  return { dtype, shape: isTransposed ? transposedShape(joined) : joined };
}

function formatIndex(parameters: Parameters, files: WeightLayout['files']): Uint8Array {
  const shardOf: [string, string][] = [];
  let totalBytes = 0;
  for (const { name: file, tensors } of files) {
    for (const { name, parameters: parts } of tensors) {
      shardOf.push([name, file]);
      for (const part of parts) {
        const { size, dtype } = parameter(parameters, part);
        totalBytes += size * bytesOf(dtype);
      }
    }
  }
  const index = { metadata: { total_size: totalBytes }, weight_map: Object.fromEntries(shardOf) };
  return new TextEncoder().encode(`${JSON.stringify(index, null, 2)}\n`);
}
