/** Decoding end to end at a tiny shape. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError } from '@saccade/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { measureDecode, profileDecode } from './measure-decode.ts';
import { writeRandomCheckpoint } from './random-checkpoint.ts';
import { shapes } from './shapes.ts';

let folder: string;
let bytes: number;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'saccade-decode-'));
  const shape = shapes['qwen2.5-vl-tiny']?.();
  if (shape === undefined) throw new Error('There is no such shape.');
  bytes = await writeRandomCheckpoint(join(folder, 'qwen2.5-vl-tiny'), shape);
});
afterAll(() => rmSync(folder, { recursive: true }));

const options = () => ({
  directory: join(folder, 'qwen2.5-vl-tiny'),
  threads: 1,
  conversations: [1, 3],
  tokens: 4,
  rounds: 1,
  weights: ['own', 'int8'] as const,
  onProgress: () => undefined,
});

describe('the measurement of decoding', () => {
  it('reads a checkpoint of random weights in bf16, and gives rates of all weights', async () => {
    const result = await measureDecode(options());
    expect(result.weightBytes).toBe(bytes);
    expect(result.rows.map(({ conversations }) => conversations)).toEqual([1, 3]);
    for (const { ours, bandwidth, toOwn, transformers } of result.rows) {
      for (const weights of ['own', 'int8'] as const) {
        expect(ours[weights]?.median).toBeGreaterThan(0);
        expect(bandwidth[weights]).toBeGreaterThan(0);
        expect(toOwn[weights]?.count).toBe(1);
      }
      expect(toOwn.own?.median).toBe(1);
      expect(transformers).toBeUndefined();
    }
    expect(result.peakResidentBytes).toBeGreaterThan(result.weightBytes);
  });

  it('refuses to time no token', async () => {
    await expect(measureDecode({ ...options(), tokens: 1 })).rejects.toThrow(ConfigError);
  });

  it('tells the time of kernels from the time beside them', async () => {
    const { seconds, byOp } = await profileDecode(options(), 2, 'int8');
    expect(Object.keys(byOp)).toEqual(expect.arrayContaining(['gemmQuantized', 'linearSample']));
    const kernels = Object.values(byOp).reduce((sum, time) => sum + time, 0);
    expect(kernels).toBeLessThan(seconds);
  });
});
