import { nativeBackend } from '@saccade/backend-native';
import { StateError } from '@saccade/core';
import { openDevice } from '@saccade/ops';
import { type Tensor, tensor } from '@saccade/tensor';
import { afterAll, describe, expect, it } from 'vitest';
import { optimizerOf, transformed } from './optimizer.ts';
import { adamw } from './optimizers/adamw.ts';
import { emptyState, exportState } from './state.ts';
import { chain, type Transformation } from './transformation.ts';
import { addDecayedWeights } from './transformations/add-decayed-weights.ts';
import { clipByGlobalNorm } from './transformations/clip-by-global-norm.ts';
import { masked } from './transformations/masked.ts';
import { orthogonalize } from './transformations/orthogonalize.ts';
import { scaleByAdam } from './transformations/scale-by-adam.ts';
import { scaleByLearningRate } from './transformations/scale-by-learning-rate.ts';
import { trace } from './transformations/trace.ts';

const device = openDevice(nativeBackend({ threads: 1 }));
afterAll(() => device.dispose());

const make = (shape: readonly number[], ...values: readonly number[]) =>
  tensor(device, 'f32', [...shape], values);
const read = async (one: Tensor | undefined) => [...((await one?.read()) ?? [])];

/** Updates after one transformation. */
async function after(
  transformation: Transformation,
  updates: Record<string, Tensor>,
  parameters: Record<string, Tensor> = updates,
) {
  const state = transformation.init(parameters);
  return await transformation.update(updates, state, parameters, { learningRate: 0.5 });
}

describe('chain', () => {
  it('composes the fused AdamW of its parts', async () => {
    const options = { beta1: 0.8, beta2: 0.95, eps: 1e-6 };
    const settings = { ...options, weightDecay: 0.1, maxGradNorm: 1 };
    const composed = transformed(
      'composed',
      chain(
        clipByGlobalNorm(1),
        scaleByAdam(options),
        addDecayedWeights(0.1),
        scaleByLearningRate(),
      ),
    );
    const ends: number[][] = [];
    for (const optimizer of [adamw.create(settings), composed]) {
      const parameters = { w: make([2, 2], 1, -2, 3, 0.5), b: make([1], 0.3) };
      let state = optimizer.init(parameters);
      for (let step = 1; step < 6; step++) {
        const gradients = { w: make([2, 2], step, -1, 0.1, 2), b: make([1], -step) };
        ({ state } = await optimizer.step(parameters, gradients, state, { learningRate: 0.1 }));
      }
      ends.push([...(await read(parameters.w)), ...(await read(parameters.b))]);
    }
    ends[0]?.forEach((value, i) => {
      expect(Math.abs((ends[1]?.[i] ?? Number.NaN) - value)).toBeLessThan(1e-6);
    });
  });

  it('keeps the states of equal stages apart', async () => {
    const twice = chain(trace({ decay: 0.5 }), trace({ decay: 0 }));
    const updates = { w: make([1], 2) };
    const { arrays } = await exportState(await after(twice, updates));
    expect([...arrays.keys()]).toEqual(['0.trace.w', '1.trace.w']);
    const nested = chain(
      twice,
      scaleByLearningRate(() => 1),
    );
    const state = await after(nested, { w: make([1], 2) });
    expect(Object.keys(state.tensors)).toEqual(['0.0.trace.w', '0.1.trace.w']);
    expect(state.numbers).toEqual({ '1.update': 1 });
  });

  it('passes updates as they are where it is empty', async () => {
    const updates = { w: make([2], 1, 2) };
    expect(await after(chain(), updates)).toEqual(emptyState);
    expect(await read(updates.w)).toEqual([1, 2]);
  });
});

describe('transformations', () => {
  it('clip all updates together, down and never up', async () => {
    const updates = { a: make([2], 3, 0), b: make([1], 4) };
    await after(clipByGlobalNorm(1), updates);
    expect((await read(updates.a))[0]).toBeCloseTo(0.6, 5);
    expect((await read(updates.b))[0]).toBeCloseTo(0.8, 5);
    const small = { a: make([1], 0.5) };
    await after(clipByGlobalNorm(1), small);
    expect(await read(small.a)).toEqual([0.5]);
  });

  it('follow a schedule of their own, or the rate of the call', async () => {
    const schedule = scaleByLearningRate((update) => 2 + update);
    const parameters = { w: make([1], 0) };
    let state = schedule.init(parameters);
    for (const rate of [2, 3, 4]) {
      const updates = { w: make([1], 1) };
      state = await schedule.update(updates, state, parameters, { learningRate: 9 });
      expect(await read(updates.w)).toEqual([-rate]);
    }
    const updates = { w: make([1], 1) };
    await after(scaleByLearningRate(), updates);
    expect(await read(updates.w)).toEqual([-0.5]);
  });

  it('of a group leave the other parameters alone and keep nothing for them', async () => {
    const group = masked(trace({ decay: 0.9, take: 2 }), (name) => name.startsWith('lora.'));
    const updates = { 'lora.a': make([1], 1), base: make([1], 1) };
    const state = await after(group, updates);
    expect(await read(updates['lora.a'])).toEqual([2]);
    expect(await read(updates.base)).toEqual([1]);
    expect(Object.keys(state.tensors)).toEqual(['trace.lora.a']);
  });

  it('orthogonalize: singular values end between 0.6 and 1.3 whatever they were', async () => {
    // Rotated diagonals, singular values 10 and 0.05.
    const [c, s] = [Math.cos(0.4), Math.sin(0.4)];
    const updates = { w: make([2, 2], 10 * c, -0.05 * s, 10 * s, 0.05 * c) };
    await after(orthogonalize({ steps: 5, scaling: 'keller' }), updates);
    const [a = 0, b = 0, d = 0, e = 0] = await read(updates.w);
    const [trace2, det] = [a * a + b * b + d * d + e * e, a * e - b * d];
    const root = Math.sqrt(Math.max(0, trace2 ** 2 / 4 - det ** 2));
    const largest = Math.sqrt(trace2 / 2 + root);
    expect(largest).toBeLessThan(1.3);
    expect(Math.abs(det) / largest).toBeGreaterThan(0.6);
    const zero = { w: make([2, 2], 0, 0, 0, 0) };
    await after(orthogonalize({ steps: 5, scaling: 'keller' }), zero);
    expect(await read(zero.w)).toEqual([0, 0, 0, 0]);
  });

  it('refuse updates that their state does not know', async () => {
    const transformation = trace({ decay: 0.9 });
    const state = transformation.init({ w: make([1], 0) });
    const updates = { other: make([1], 1) };
    const update = transformation.update(updates, state, updates, { learningRate: 1 });
    await expect(update).rejects.toThrow(StateError);
    await expect(update).rejects.toThrow(/trace\.other/);
  });
});

it('frees what a step holds where the step throws', async () => {
  const before = device.allocatedBytes();
  const broken = optimizerOf(
    'broken',
    {},
    () => emptyState,
    async () => {
      throw new Error('broken');
    },
  );
  const parameters = { w: make([1], 1) };
  const gradients = { w: make([1], 1) };
  const step = broken.step(parameters, gradients, emptyState, { learningRate: 1 });
  await expect(step).rejects.toThrow('broken');
  for (const one of [parameters.w, gradients.w]) one.dispose();
  expect(device.allocatedBytes()).toBe(before);
});
