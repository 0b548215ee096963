import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataError, decode, encode } from '@saccade/core';
import { type Device, openDevice, referenceBackend } from '@saccade/ops';
import { tensor } from '@saccade/tensor';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { loadParameters } from './load-parameters.ts';
import { formatHeader } from './safetensors-header.ts';
import { layoutOf, type StoredNames } from './weight-layout.ts';
import { writeParameters } from './write-parameters.ts';

let root: string;
let directory: string;
let device: Device;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'saccade-transposed-'));
});
afterAll(() => rm(root, { recursive: true }));
beforeEach(async () => {
  directory = await mkdtemp(join(root, 'model-'));
  device = openDevice(referenceBackend());
});
afterEach(() => device.dispose());

const FILE = 'model.safetensors';
const names: StoredNames = {
  storedAs: (name) => ({ name, isTransposed: true }),
  alternatives: () => [],
};
/** Element (e, n, k) of a stack is 100e + 10n + k: small enough for bf16 to hold. */
const elementOf = (e: number, n: number, k: number): number => 100 * e + 10 * n + k;

function stack(experts: number, rows: number, columns: number, isTurned: boolean): number[] {
  const values: number[] = [];
  for (let e = 0; e < experts; e++) {
    for (let a = 0; a < (isTurned ? columns : rows); a++) {
      for (let b = 0; b < (isTurned ? rows : columns); b++) {
        values.push(isTurned ? elementOf(e, b, a) : elementOf(e, a, b));
      }
    }
  }
  return values;
}

async function write(dtype: 'f32' | 'bf16', shape: readonly number[], values: readonly number[]) {
  const stored = encode(Float64Array.from(values), dtype);
  const bytes = new Uint8Array(stored.buffer, stored.byteOffset, stored.byteLength);
  const header = formatHeader([{ name: 'w', dtype, shape }]);
  await writeFile(join(directory, FILE), Buffer.concat([header, bytes]));
}

const load = (shape: readonly number[], dtype: 'checkpoint' | 'f32' = 'checkpoint') =>
  loadParameters(
    device,
    directory,
    [{ name: 'w', shape, initializer: { kind: 'constant', value: 0 } }],
    { names, dtype },
  );

describe('matrices that a file keeps transposed', () => {
  it.each([
    ['transposed', [2, 4, 3], true],
    ['as they are', [2, 3, 4], false],
  ] as const)('are read %s, and written back byte for byte', async (_, shape, isTurned) => {
    for (const dtype of ['f32', 'bf16'] as const) {
      await write(dtype, shape, stack(2, 3, 4, isTurned));
      const { parameters, layout } = await load([2, 3, 4]);
      expect(parameters.w?.dtype).toBe(dtype);
      expect([...((await parameters.w?.read()) ?? [])]).toEqual(stack(2, 3, 4, false));
      const copy = join(directory, 'copy');
      await writeParameters(copy, parameters, layout);
      const [own, other] = await Promise.all(
        [directory, copy].map((folder) => readFile(join(folder, FILE))),
      );
      expect(own?.equals(other as Buffer)).toBe(true);
    }
  });

  it('are converted like any other', async () => {
    await write('bf16', [2, 4, 3], stack(2, 3, 4, true));
    const { parameters } = await load([2, 3, 4], 'f32');
    const rounded = decode(encode(Float64Array.from(stack(2, 3, 4, false)), 'bf16'), 'bf16');
    expect(await parameters.w?.read()).toEqual(Float32Array.from(rounded));
  });

  it('are as they are where they are square: shapes cannot tell', async () => {
    await write('f32', [2, 3, 3], stack(2, 3, 3, false));
    const { parameters } = await load([2, 3, 3]);
    expect([...((await parameters.w?.read()) ?? [])]).toEqual(stack(2, 3, 3, false));
  });

  it('are transposed in new files, but for square ones', async () => {
    const parameters = {
      w: tensor(device, 'f32', [2, 3, 4], stack(2, 3, 4, false)),
      square: tensor(device, 'f32', [1, 2, 2], stack(1, 2, 2, false)),
    };
    const layout = layoutOf(parameters, names);
    expect(layout.files[0]?.tensors).toEqual([
      { name: 'w', parameters: ['w'], isTransposed: true },
      { name: 'square', parameters: ['square'] },
    ]);
    await writeParameters(directory, parameters, layout);
    const { parameters: again } = await load([2, 3, 4]);
    expect(await again.w?.read()).toEqual(await parameters.w.read());
  });

  it('are refused in any other shape', async () => {
    await write('f32', [2, 2, 6], stack(2, 2, 6, false));
    await expect(load([2, 3, 4])).rejects.toThrow(DataError);
    await expect(load([2, 3, 4])).rejects.toThrow(/must be \[2, 3, 4\], got \[2, 2, 6\]/);
  });
});
