import { mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataError, type DType, decode, encode, randomAt, type Shape, sizeOf } from '@saccade/core';
import { type BufferView, type Device, openDevice, referenceBackend } from '@saccade/ops';
import { tensor } from '@saccade/tensor';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { loadParameters, type ParameterDType } from './load-parameters.ts';
import type { ParameterSpec } from './parameters.ts';
import { formatHeader } from './safetensors-header.ts';
import { layoutOf, type StoredNames } from './weight-layout.ts';
import { writeParameters } from './write-parameters.ts';

let root: string;
let directory: string;
let device: Device;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'saccade-parameters-'));
});
afterAll(() => rm(root, { recursive: true }));
beforeEach(async () => {
  directory = await mkdtemp(join(root, 'model-'));
  device = openDevice(referenceBackend());
});
afterEach(() => device.dispose());

const INDEX = 'model.safetensors.index.json';
const SHARDS = ['model-00001-of-00002.safetensors', 'model-00002-of-00002.safetensors'] as const;

const initializer = { kind: 'constant', value: 0 } as const;
const specs: readonly ParameterSpec[] = [
  { name: 'w', shape: [3, 5], initializer },
  { name: 'q', shape: [2, 3], initializer },
  { name: 'k', shape: [2, 3], initializer },
  { name: 'bias', shape: [7], initializer },
];
/** `q` and `k` are the halves of `qk`; `w` is called `model.w` in some files. */
const names: StoredNames = {
  storedAs(name) {
    const index = ['q', 'k'].indexOf(name);
    return index < 0 ? { name } : { name: 'qk', part: { index, of: 2 } };
  },
  alternatives: (name) => (name === 'w' ? ['model.w'] : []),
};

interface Described {
  readonly name: string;
  readonly dtype: DType;
  readonly shape: Shape;
}
const rest: Described = { name: 'rest', dtype: 'f32', shape: [2] };
const qk: Described = { name: 'qk', dtype: 'bf16', shape: [4, 3] };
const bias: Described = { name: 'bias', dtype: 'f16', shape: [7] };
const w: Described = { name: 'model.w', dtype: 'f32', shape: [3, 5] };

function stored({ name, dtype, shape }: Described) {
  const random = randomAt(1, name);
  const drawn = Float64Array.from({ length: sizeOf(shape) }, () => random.normal());
  return encode(dtype === 'i32' ? drawn.map(Math.round) : drawn, dtype);
}

/** The values that a file written by `write` has for a tensor. */
const valuesOf = (tensor: Described) => Float32Array.from(decode(stored(tensor), tensor.dtype));

async function write(file: string, tensors: readonly Described[]): Promise<void> {
  const parts = tensors.map((tensor) => new Uint8Array(stored(tensor).buffer));
  await writeFile(join(directory, file), Buffer.concat([formatHeader(tensors), ...parts]));
}

const indexOf = (shards: Readonly<Record<string, string>>) =>
  writeFile(join(directory, INDEX), JSON.stringify({ weight_map: shards }));

/** Shards of several element types, with a tensor that no parameter is in. */
async function writeShards(): Promise<void> {
  const [first, second] = SHARDS;
  await write(first, [rest, qk]);
  await write(second, [bias, w]);
  await indexOf({ rest: first, qk: first, bias: second, 'model.w': second });
}

const load = (dtype: ParameterDType = 'checkpoint') =>
  loadParameters(device, directory, specs, { names, dtype });

describe('loadParameters', () => {
  it('reads every tensor of the shards in its own element type', async () => {
    await writeShards();
    const { parameters } = await load();
    const { w: weight, q, k, bias: offset } = parameters;
    expect(Object.keys(parameters)).toEqual(['w', 'q', 'k', 'bias']);
    expect([weight, q, k, offset].map((one) => one?.dtype)).toEqual(['f32', 'bf16', 'bf16', 'f16']);
    expect(await weight?.read()).toEqual(valuesOf(w));
    expect(await q?.read()).toEqual(valuesOf(qk).slice(0, 6));
    expect(await k?.read()).toEqual(valuesOf(qk).slice(6));
    expect(await offset?.read()).toEqual(valuesOf(bias));
    expect(device.allocatedBytes()).toBe(15 * 4 + 12 * 2 + 7 * 2);
  });

  it.each(['f32', 'bf16'] as const)('converts to %s', async (dtype) => {
    await writeShards();
    const { parameters } = await load(dtype);
    for (const parameter of Object.values(parameters)) expect(parameter.dtype).toBe(dtype);
    const rounded = decode(encode(valuesOf(bias), dtype), dtype);
    expect(await parameters.bias?.read()).toEqual(Float32Array.from(rounded));
  });

  it('keeps no second copy of the weights on the host', async () => {
    const columns = 1 << 20;
    const large = Array.from({ length: 12 }, (_, i) => {
      return { name: `w${i}`, dtype: 'bf16', shape: [4, columns] } as const;
    });
    const header = formatHeader(large);
    const weights = large.length * 4 * columns * 2;
    const path = join(directory, 'model.safetensors');
    await writeFile(path, header);
    await truncate(path, header.length + weights);
    const backend = referenceBackend();
    const host = openDevice(backend);
    const bytesOnHost = () => process.memoryUsage().arrayBuffers;
    let peak = 0;
    const writeTo = backend.write.bind(backend);
    backend.write = (view: BufferView, data: ArrayBufferView) => {
      writeTo(view, data);
      peak = Math.max(peak, bytesOnHost());
    };
    const before = bytesOnHost();
    await loadParameters(
      host,
      directory,
      large.map((one) => ({ ...one, initializer })),
      { names, dtype: 'checkpoint' },
    );
    expect(host.allocatedBytes()).toBe(weights);
    // The device of this backend is the host: its memory, and the chunk that is on the way.
    expect(peak - before).toBeLessThan(weights + 3 * 2 ** 24);
    host.dispose();
  });

  it.each<[string, () => Promise<unknown>, RegExp]>([
    ['a directory without weights', async () => {}, /neither model.safetensors nor model/],
    [
      'a missing shard',
      async () => {
        await writeShards();
        await rm(join(directory, SHARDS[1]));
      },
      /names "model-00002-of-00002.safetensors", which is not there/,
    ],
    [
      'a truncated file',
      async () => {
        await writeShards();
        const path = join(directory, SHARDS[1]);
        await truncate(path, (await readFile(path)).length - 1);
      },
      /truncated: its tensors take 74 bytes, but it holds 73/,
    ],
    [
      'a header that is none',
      () => writeFile(join(directory, 'model.safetensors'), 'version https://git-lfs.github.com'),
      /its header claims/,
    ],
    ['a tensor that is not there', () => write('model.safetensors', [qk, w]), /have no "bias"/],
    [
      'another shape',
      () => write('model.safetensors', [{ ...qk, shape: [3, 3] }, bias, w]),
      /"qk" in .* must be \[4, 3\], got \[3, 3\]/,
    ],
    [
      'integers',
      () => write('model.safetensors', [qk, { ...bias, dtype: 'i32' }, w]),
      /"bias" in .* holds i32, expected floats/,
    ],
    ['an empty index', () => indexOf({}), /its weight_map is empty/],
  ])('refuses %s before it allocates', async (_, prepare, message) => {
    await prepare();
    const loading = load();
    await expect(loading).rejects.toThrow(DataError);
    await expect(loading).rejects.toThrow(message);
    expect(device.allocatedBytes()).toBe(0);
  });

  it('frees what it had read where a file ends while it is read', async () => {
    await writeShards();
    const backend = referenceBackend();
    const failing = openDevice(backend);
    let writes = 0;
    const writeTo = backend.write.bind(backend);
    backend.write = (view, data) => {
      if (writes++ === 2) throw new DataError('no more');
      writeTo(view, data);
    };
    const options = { names, dtype: 'f32' } as const;
    await expect(loadParameters(failing, directory, specs, options)).rejects.toThrow('no more');
    expect(failing.allocatedBytes()).toBe(0);
    failing.dispose();
  });
});

describe('writeParameters', () => {
  it('writes the files, names and element types that it read, byte for byte', async () => {
    await write('model.safetensors', [bias, qk, w]);
    const { parameters, layout } = await load();
    const copy = join(directory, 'copy');
    await writeParameters(copy, parameters, layout);
    expect(await readdir(copy)).toEqual(['model.safetensors']);
    const bytesIn = (folder: string) => readFile(join(folder, 'model.safetensors'));
    expect((await bytesIn(copy)).equals(await bytesIn(directory))).toBe(true);
  });

  it('writes shards and their index, without what no parameter is in', async () => {
    await writeShards();
    const { parameters, layout } = await load();
    const copy = join(directory, 'copy');
    await writeParameters(copy, parameters, layout);
    expect((await readdir(copy)).sort()).toEqual([...SHARDS, INDEX].sort());
    expect(JSON.parse(await readFile(join(copy, INDEX), 'utf8'))).toEqual({
      metadata: { total_size: 15 * 4 + 12 * 2 + 7 * 2 },
      weight_map: { qk: SHARDS[0], bias: SHARDS[1], 'model.w': SHARDS[1] },
    });
    const again = await loadParameters(device, copy, specs, { names, dtype: 'checkpoint' });
    for (const [name, parameter] of Object.entries(parameters)) {
      const read = await again.parameters[name]?.readStored();
      expect(read, name).toEqual(await parameter.readStored());
    }
  });

  it('shards what is new by size, and replaces what the directory had', async () => {
    await write('model.safetensors', [bias, qk, w]);
    const made = {
      w: tensor(device, 'bf16', [3, 5], valuesOf(w)),
      q: tensor(device, 'bf16', [2, 3], valuesOf(qk).slice(0, 6)),
      k: tensor(device, 'bf16', [2, 3], valuesOf(qk).slice(6)),
      bias: tensor(device, 'bf16', [7], valuesOf(bias)),
    };
    await writeParameters(directory, made, layoutOf(made, names, { maxShardBytes: 40 }));
    expect((await readdir(directory)).sort()).toEqual([...SHARDS, INDEX].sort());
    const { parameters, layout } = await load();
    expect(layout.files.map(({ tensors }) => tensors.map(({ name }) => name))).toEqual([
      ['w'],
      ['qk', 'bias'],
    ]);
    expect(await parameters.k?.readStored()).toEqual(await made.k.readStored());
    // Back to one file: the index would hide it from readers that look there first.
    await writeParameters(directory, made, layoutOf(made, names));
    expect(await readdir(directory)).not.toContain(INDEX);
    expect((await load()).parameters.bias?.dtype).toBe('bf16');
  });
});
