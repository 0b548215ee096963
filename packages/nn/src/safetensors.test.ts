import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataError } from '@saccade/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type NamedArray, readSafetensors, writeSafetensors } from './safetensors.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'saccade-safetensors-'));
});
afterAll(() => rm(directory, { recursive: true }));

function file(header: unknown, data: Uint8Array = new Uint8Array()): Buffer {
  const text = Buffer.from(typeof header === 'string' ? header : JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  return Buffer.concat([length, text, data]);
}

const f32 = (offsets: [number, number], shape = [1]) => ({
  dtype: 'F32',
  shape,
  data_offsets: offsets,
});

describe('safetensors', () => {
  it('reads back what it wrote', async () => {
    const path = join(directory, 'a.safetensors');
    const arrays = new Map<string, NamedArray>([
      ['w', { dtype: 'f32', shape: [2, 2], data: Float32Array.of(1, -2, 3.5, 1e-9) }],
      ['ids', { dtype: 'i32', shape: [3], data: Int32Array.of(1, 2, -3) }],
    ]);
    await writeSafetensors(path, arrays);
    expect(await readSafetensors(path)).toEqual(arrays);
  });

  it('reads a file of the Python library, bf16 and f16 included', async () => {
    // safetensors.torch.save of {'b': bf16 [1.5, -2], 'h': f16 [0.25, 65504]}, safetensors 0.5.
    const bytes = file(
      '{"b":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]},"h":{"dtype":"F16","shape":[2],"data_offsets":[4,8]}}',
      Uint8Array.of(0xc0, 0x3f, 0x00, 0xc0, 0x00, 0x34, 0xff, 0x7b),
    );
    const path = join(directory, 'python.safetensors');
    await writeFile(path, bytes);
    const arrays = await readSafetensors(path);
    expect([...(arrays.get('b')?.data ?? [])]).toEqual([1.5, -2]);
    expect([...(arrays.get('h')?.data ?? [])]).toEqual([0.25, 65504]);
  });

  it.each([
    ['a truncated file', Buffer.alloc(4)],
    ['a header longer than the file', file('{}').fill(0xff, 0, 7)],
    ['a header that is no JSON', file('{"w":')],
    ['a tensor outside of the file', file({ w: f32([0, 4]) })],
    ['a shape that needs more bytes', file({ w: f32([0, 4], [2]) }, new Uint8Array(4))],
    ['a hole', file({ w: f32([4, 8]) }, new Uint8Array(8))],
    ['an overlap', file({ a: f32([0, 4]), b: f32([0, 4]) }, new Uint8Array(4))],
    ['bytes of no tensor', file({ w: f32([0, 4]) }, new Uint8Array(8))],
    ['an unknown element type', file({ w: { ...f32([0, 4]), dtype: 'F4' } }, new Uint8Array(4))],
  ])('refuses %s', async (_, bytes) => {
    const path = join(directory, 'bad.safetensors');
    await writeFile(path, bytes);
    await expect(readSafetensors(path)).rejects.toThrow(DataError);
  });

  it('leaves no partial file behind when it cannot write', async () => {
    const path = join(directory, 'missing', 'a.safetensors');
    await expect(writeSafetensors(path, new Map())).rejects.toThrow();
    await expect(readFile(`${path}.partial`)).rejects.toThrow();
  });
});
