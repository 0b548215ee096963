import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataError } from '@saccade/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Checkpoint } from './checkpoint.ts';
import { type NamedArray, writeSafetensors } from './safetensors.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'saccade-checkpoint-'));
});
afterAll(() => rm(directory, { recursive: true }));

const one: NamedArray = { dtype: 'f32', shape: [1], data: Float32Array.of(1) };
const index = (shards: unknown) => JSON.stringify({ metadata: {}, weight_map: shards });
const INDEX = 'model.safetensors.index.json';

async function make(files: Record<string, string | Map<string, NamedArray>>): Promise<string> {
  const path = await mkdtemp(join(directory, 'model-'));
  for (const [name, content] of Object.entries(files)) {
    if (typeof content === 'string') await writeFile(join(path, name), content);
    else await writeSafetensors(join(path, name), content);
  }
  return path;
}

describe('Checkpoint', () => {
  it('joins the shards that an index names', async () => {
    const path = await make({
      'a.safetensors': new Map([['x', one]]),
      'b.safetensors': new Map([
        ['y', one],
        ['x', one],
      ]),
      [INDEX]: index({ x: 'a.safetensors', y: 'b.safetensors' }),
    });
    const checkpoint = await Checkpoint.open(path);
    const names = [...checkpoint.files].map(([file, tensors]) => [file, [...tensors.keys()]]);
    expect(names).toEqual([
      ['a.safetensors', ['x']],
      ['b.safetensors', ['y']],
    ]);
    expect(checkpoint.find(['z', 'y'])?.file.path).toBe(join(path, 'b.safetensors'));
    await checkpoint.close();
  });

  it('takes the one file where both are there, as transformers does', async () => {
    const path = await make({ 'model.safetensors': new Map([['x', one]]), [INDEX]: '{' });
    const checkpoint = await Checkpoint.open(path);
    expect([...checkpoint.files.keys()]).toEqual(['model.safetensors']);
    await checkpoint.close();
  });

  it.each([
    ['is no JSON', '{'],
    ['has no weight_map', '{}'],
    ['is empty', index({})],
    ['names a file outside', index({ x: '../a.safetensors' })],
    ['names no file', index({ x: 3 })],
    ['names a shard that is missing', index({ x: 'gone.safetensors' })],
    ['names the directory', index({ x: '.' })],
    ['names what no file can be called', index({ x: 'a\0' })],
    ['names nothing', index({ x: '' })],
    ['looks for a tensor that its shard lacks', index({ x: 'a.safetensors', y: 'a.safetensors' })],
  ])('refuses an index that %s', async (_, text) => {
    const path = await make({ 'a.safetensors': new Map([['x', one]]), [INDEX]: text });
    await expect(Checkpoint.open(path)).rejects.toThrow(DataError);
  });
});
