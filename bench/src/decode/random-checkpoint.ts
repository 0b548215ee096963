/** Checkpoints of random bf16 weights, written shard by shard: no more than one block is in memory. */
import { closeSync, mkdirSync, openSync, statfsSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError, convert, sizeOf } from '@saccade/core';
import { type LanguageModel, readModel } from '@saccade/policy';
import { writeProcessorFiles } from '@saccade/policy/processors';
import { quickRandom } from '../quick-random.ts';
import type { Shape } from './shapes.ts';

/** Most bytes of a shard. */
const SHARD_BYTES = 2 ** 30;
/** Elements of a block of noise; a prime, so that rows do not repeat. */
const NOISE = 1_048_573;

interface StoredTensor {
  readonly name: string;
  readonly shape: readonly number[];
  /** Standard deviation of its values; 0: all are `mean`. */
  readonly std: number;
  readonly mean: number;
}

/** The tensors of a checkpoint, parts of a fused one joined. */
function storedTensors(model: LanguageModel): readonly StoredTensor[] {
  const found = new Map<string, StoredTensor>();
  for (const { name: parameter, shape, initializer } of model.specs) {
    const { name, part } = model.storedAs(parameter);
    const [rows = 0, ...rest] = shape;
    const fanIn = Math.max(1, sizeOf(rest));
    // Weights shrink with what they sum, so that activations keep their size through 36 layers.
    const isConstant = initializer.kind === 'constant';
    found.set(name, {
      name,
      shape: [rows * (part?.of ?? 1), ...rest],
      std: isConstant ? 0 : 0.5 / Math.sqrt(fanIn),
      mean: isConstant ? initializer.value : 0,
    });
  }
  return [...found.values()];
}

const bytesOf = ({ shape }: StoredTensor): number => 2 * sizeOf(shape);

/** The tensors dealt to files in order. */
function shardsOf(tensors: readonly StoredTensor[]): readonly (readonly StoredTensor[])[] {
  const shards: StoredTensor[][] = [[]];
  let bytes = 0;
  for (const tensor of tensors) {
    if (bytes > 0 && bytes + bytesOf(tensor) > SHARD_BYTES) {
      shards.push([]);
      bytes = 0;
    }
    shards.at(-1)?.push(tensor);
    bytes += bytesOf(tensor);
  }
  return shards;
}

function writeShard(path: string, tensors: readonly StoredTensor[], noise: Float32Array): void {
  const header: Record<string, unknown> = { __metadata__: { format: 'pt' } };
  let end = 0;
  for (const tensor of tensors) {
    const start = end;
    end += bytesOf(tensor);
    header[tensor.name] = { dtype: 'BF16', shape: tensor.shape, data_offsets: [start, end] };
  }
  const json = Buffer.from(JSON.stringify(header));
  const padded = Buffer.concat([json, Buffer.alloc((8 - (json.length % 8)) % 8, ' ')]);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(padded.length));
  const file = openSync(path, 'w');
  try {
    writeSync(file, length);
    writeSync(file, padded);
    for (const { shape, std, mean } of tensors) {
      const values = noise.map((value) => mean + std * value);
      const block = Buffer.from(convert(values, 'f32', 'bf16').buffer as ArrayBuffer);
      for (let left = 2 * sizeOf(shape); left > 0; left -= block.length) {
        writeSync(file, block, 0, Math.min(left, block.length));
      }
    }
  } finally {
    closeSync(file);
  }
}

/**
 * Writes a checkpoint in Hugging Face layout.
 *
 * @returns bytes of its weights
 * @throws ConfigError if the disk has no room for it
 */
export async function writeRandomCheckpoint(directory: string, shape: Shape): Promise<number> {
  mkdirSync(directory, { recursive: true });
  const model = readModel(shape.config);
  const tensors = storedTensors(model);
  const bytes = tensors.reduce((sum, tensor) => sum + bytesOf(tensor), 0);
  const { bavail, bsize } = statfsSync(directory);
  if (bavail * bsize < 1.2 * bytes) {
    throw new ConfigError(
      'directory',
      `${directory} has room for ${bavail * bsize} bytes, the weights take ${bytes}. ` +
        'Name a directory on another disk.',
    );
  }
  const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;
  writeFileSync(join(directory, 'config.json'), json({ ...shape.config, dtype: 'bfloat16' }));
  await writeProcessorFiles(directory, shape.processor);
  const random = quickRandom(1, 'checkpoint');
  const noise = Float32Array.from({ length: NOISE }, () => random.normal());
  const shards = shardsOf(tensors);
  const map: Record<string, string> = {};
  shards.forEach((tensors, i) => {
    const number = (n: number) => String(n).padStart(5, '0');
    const file = `model-${number(i + 1)}-of-${number(shards.length)}.safetensors`;
    writeShard(join(directory, file), tensors, noise);
    for (const { name } of tensors) map[name] = file;
  });
  const index = { metadata: { total_size: bytes }, weight_map: map };
  writeFileSync(join(directory, 'model.safetensors.index.json'), json(index));
  return bytes;
}
