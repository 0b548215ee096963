import { DataError } from '@saccade/core';
import { openDevice, referenceBackend } from '@saccade/ops';
import { tensor } from '@saccade/tensor';
import { afterAll, expect, it } from 'vitest';
import { dynamicMap } from './dynamic-map.ts';
import { adamw } from './optimizers/adamw.ts';
import { adamw8bit } from './optimizers/adamw-8bit.ts';
import { lion } from './optimizers/lion.ts';
import { disposeState, exportState, importState, type SavedState } from './state.ts';

const device = openDevice(referenceBackend());
afterAll(() => device.dispose());

const parameters = { w: tensor(device, 'f32', [2, 2], [1, 2, 3, 4]) };

it('names moments as checkpoints of earlier versions do', async () => {
  const state = adamw.create().init(parameters);
  const { numbers, arrays } = await exportState(state);
  expect(numbers).toEqual({ step: 0 });
  expect([...arrays.keys()]).toEqual(['m.w', 'v.w']);
  expect(arrays.get('m.w')).toMatchObject({ dtype: 'f32', shape: [2, 2] });
  disposeState(state);
});

it('names the entry that is missing, unknown or of another shape or type, and frees everything', async () => {
  const optimizer = adamw.create();
  const good = await exportState(optimizer.init(parameters));
  const before = device.allocatedBytes();
  const refuse = (saved: SavedState, words: RegExp, by = optimizer) => {
    const load = () => importState(by.init(parameters), saved);
    expect(load).toThrow(DataError);
    expect(load).toThrow(words);
    expect(device.allocatedBytes()).toBe(before);
  };
  const without = new Map(good.arrays);
  without.delete('v.w');
  const flat = { dtype: 'f32' as const, shape: [4], data: new Float32Array(4) };
  refuse({ ...good, arrays: without }, /"v\.w" as f32 \[2, 2\], got none/);
  refuse({ ...good, arrays: new Map([...good.arrays, ['v.w', flat]]) }, /got f32 \[4\]/);
  refuse({ ...good, arrays: new Map([...good.arrays, ['v.x', flat]]) }, /has "v\.x"/);
  refuse({ ...good, numbers: {} }, /number "step", got none/);
  refuse({ ...good, numbers: { step: 1, other: 2 } }, /has "other"/);
  refuse(good, /"1\.m\.w"/, lion.create());
  refuse(good, /"m-codes\.w" as i32 \[1\], got none/, adamw8bit.create({ minSize: 0 }));
});

it('has the 256 values of the dynamic map, ascending, with 0 and 1', () => {
  for (const isSigned of [true, false]) {
    const map = [...dynamicMap(isSigned)];
    expect(new Set(map).size).toBe(256);
    expect(map).toEqual([...map].sort((a, b) => a - b));
    expect(map).toContain(0);
    expect(map.at(-1)).toBe(1);
  }
  // By hand from the definition: 0.1 + 0.9·63.5/64, 10⁻⁶·0.55, 10⁻⁶·0.325, 0.1 + 0.9·127.5/128.
  const [signed, unsigned] = [dynamicMap(true), dynamicMap(false)];
  expect(signed[0]).toBeCloseTo(-0.99296875, 7);
  expect(signed[254]).toBeCloseTo(0.99296875, 7);
  expect(signed[128]).toBeCloseTo(5.5e-7, 12);
  expect(unsigned[1]).toBeCloseTo(3.25e-7, 12);
  expect(unsigned[254]).toBeCloseTo(0.996484375, 7);
});
