import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataError, ShapeError } from '@saccade/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readGolden } from './golden.fixture.ts';
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

  it('reads every element type of a file of the Python library', async () => {
    // Values from the tensors in goldens/write-goldens.py.
    const golden = await readGolden('element-types');
    const data = (name: string) => [...golden.array(name).data];
    expect(data('f64')).toEqual([1.5, -2.25]);
    expect(golden.array('f32').shape).toEqual([1, 3]);
    expect(data('f32')).toEqual([Math.fround(1e-9), 3.5, -1]);
    expect(data('f16')).toEqual([0.25, 65504, 2 ** -24]);
    expect(data('bf16')).toEqual([1.5, -2, 3.140625]);
    expect(data('i64')).toEqual([2147483647, -2147483648]);
    expect(golden.array('i32')).toEqual({
      dtype: 'i32',
      shape: [2, 1],
      data: Int32Array.of(1, -7),
    });
    expect(data('u8')).toEqual([0, 255, 7]);
    expect(golden.array('empty').shape).toEqual([0, 3]);
    expect(golden.array('scalar')).toMatchObject({ shape: [], data: Float32Array.of(42) });
  });

  it('refuses a 64-bit integer that int32 cannot hold', async () => {
    const path = join(directory, 'wide.safetensors');
    const data = new Uint8Array(BigInt64Array.of(1n, 2n ** 31n).buffer);
    const header = { w: { dtype: 'I64', shape: [2], data_offsets: [0, 16] } };
    await writeFile(path, file(header, data));
    await expect(readSafetensors(path)).rejects.toThrow(/2147483648 at element 1/);
  });

  it('writes what the format asks for: aligned data, metadata, contiguous tensors', async () => {
    const path = join(directory, 'b.safetensors');
    const data = Float32Array.of(1, 2, 3).subarray(1);
    await writeSafetensors(path, new Map([['w', { dtype: 'f32', shape: [2], data }]]));
    const bytes = await readFile(path);
    const headerBytes = Number(bytes.readBigUInt64LE(0));
    expect(headerBytes % 8).toBe(0);
    expect(JSON.parse(bytes.toString('utf8', 8, 8 + headerBytes))).toEqual({
      __metadata__: { format: 'pt' },
      w: { dtype: 'F32', shape: [2], data_offsets: [0, 8] },
    });
    expect([bytes.readFloatLE(8 + headerBytes), bytes.length]).toEqual([2, 16 + headerBytes]);
  });

  it('keeps the file that was there when it cannot write the new one', async () => {
    const path = join(directory, 'kept.safetensors');
    const good: NamedArray = { dtype: 'f32', shape: [1], data: Float32Array.of(5) };
    await writeSafetensors(path, new Map([['w', good]]));
    const bad = new Map([['w', { ...good, shape: [2] }]]);
    await expect(writeSafetensors(path, bad)).rejects.toThrow(ShapeError);
    expect((await readSafetensors(path)).get('w')).toEqual(good);
  });

  it('reads a tensor called __proto__', async () => {
    const path = join(directory, 'proto.safetensors');
    const array: NamedArray = { dtype: 'f32', shape: [1], data: Float32Array.of(5) };
    await writeSafetensors(path, new Map([['__proto__', array]]));
    expect((await readSafetensors(path)).get('__proto__')).toEqual(array);
  });

  it.each([
    ['a truncated file', Buffer.alloc(4)],
    ['a header longer than the file', file('{}').fill(0xff, 0, 7)],
    ['a header beyond 100 MB', file('{}').fill(0xff, 0, 4)],
    ['a header that is no JSON', file('{"w":')],
    ['a header that is a list', file([])],
    ['a tensor that is no object', file({ w: 3 })],
    ['offsets that are no integers', file({ w: f32([0.5, 4.5]) }, new Uint8Array(4))],
    ['offsets that are text', file('{"w":{"dtype":"F32","shape":[1],"data_offsets":["0","4"]}}')],
    ['a negative length', file({ w: f32([0, 4], [-1, -1]) }, new Uint8Array(4))],
    ['a shape whose size overflows', file({ w: f32([0, 0], [2 ** 40, 2 ** 40]) })],
    ['a tensor outside of the file', file({ w: f32([0, 4]) })],
    ['a shape that needs more bytes', file({ w: f32([0, 4], [2]) }, new Uint8Array(4))],
    ['a hole', file({ w: f32([4, 8]) }, new Uint8Array(8))],
    ['an overlap', file({ a: f32([0, 4]), b: f32([0, 4]) }, new Uint8Array(4))],
    ['bytes of no tensor', file({ w: f32([0, 4]) }, new Uint8Array(8))],
    ['an element type that every object has', file({ w: { ...f32([0, 0]), dtype: 'toString' } })],
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
