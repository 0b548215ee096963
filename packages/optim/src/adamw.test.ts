import { readFile } from 'node:fs/promises';
import { DataError, ShapeError, StateError } from '@saccade/core';
import { openDevice, referenceBackend } from '@saccade/ops';
import { gelu, linear, Tape, type Tensor, tensor } from '@saccade/tensor';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type AdamWOptions,
  type AdamWState,
  adamwDispose,
  adamwInit,
  adamwUpdate,
} from './adamw.ts';
import { exportAdamW, importAdamW } from './adamw-state.ts';

interface GoldenRun {
  readonly maxGradNorm: number;
  readonly weightDecay: number;
  readonly steps: readonly {
    readonly gradNorm: number;
    readonly w: number[];
    readonly b: number[];
  }[];
}

const device = openDevice(referenceBackend());
let golden: readonly GoldenRun[];
beforeAll(async () => {
  golden = JSON.parse(await readFile(new URL('./goldens/adamw.json', import.meta.url), 'utf8'));
});
afterAll(() => device.dispose());

const options: AdamWOptions = {
  learningRate: 0.1,
  beta1: 0.9,
  beta2: 0.98,
  eps: 1e-8,
  weightDecay: 0.01,
  maxGradNorm: 1,
};

const vector = (...values: readonly number[]) => tensor(device, 'f32', [values.length], values);
const start = () => ({ w: vector(1, -2, 3), b: vector(0.5) });

/** 2w and 4b. */
async function gradientsOf(parameters: { readonly w: Tensor; readonly b: Tensor }) {
  const w = [...(await parameters.w.read())];
  const b = [...(await parameters.b.read())];
  return { w: vector(...w.map((x) => 2 * x)), b: vector(...b.map((x) => 4 * x)) };
}

describe('adamwUpdate', () => {
  it.each([
    ['clipping over all parameters together', 0],
    ['without clipping or decay', 1],
  ])('takes the five steps that torch takes, %s', async (_, run) => {
    const { maxGradNorm, weightDecay, steps } = golden[run] as GoldenRun;
    const parameters = start();
    let state = adamwInit(parameters);
    for (const step of steps) {
      const gradients = await gradientsOf(parameters);
      const result = await adamwUpdate(parameters, gradients, state, {
        ...options,
        maxGradNorm,
        weightDecay,
      });
      state = result.state;
      expect(result.isSkipped).toBe(false);
      expect(result.gradNorm / step.gradNorm).toBeCloseTo(1, 6);
      const values = [...(await parameters.w.read()), ...(await parameters.b.read())];
      for (const [i, value] of [...step.w, ...step.b].entries()) {
        expect(values[i]).toBeCloseTo(value, 6);
      }
    }
    expect(state.step).toBe(5);
  });

  it('gives the same bits whatever the order of the parameters', async () => {
    const { w, b } = start();
    const other = start();
    const gradients = await gradientsOf({ w, b });
    const { gradNorm } = await adamwUpdate({ w, b }, gradients, adamwInit({ w, b }), options);
    const reversed = { b: other.b, w: other.w };
    const again = await adamwUpdate(reversed, gradients, adamwInit(reversed), options);
    expect(again.gradNorm).toBe(gradNorm);
    expect(await other.w.read()).toEqual(await w.read());
  });

  it('leaves a parameter without a gradient as it is', async () => {
    const parameters = start();
    const { w } = await gradientsOf(parameters);
    await adamwUpdate(parameters, { w, b: undefined }, adamwInit(parameters), options);
    expect([...(await parameters.b.read())]).toEqual([0.5]);
  });

  it.each([[Number.NaN], [Number.POSITIVE_INFINITY]])(
    'changes nothing for a gradient of %d',
    async (bad) => {
      const parameters = start();
      const before = adamwInit(parameters);
      const gradients = { w: vector(1, bad, 1), b: vector(1) };
      const { state, gradNorm, isSkipped } = await adamwUpdate(
        parameters,
        gradients,
        before,
        options,
      );
      expect([isSkipped, state, Number.isFinite(gradNorm)]).toEqual([true, before, false]);
      expect([...(await parameters.w.read())]).toEqual([1, -2, 3]);
      expect([...(await (state.m.w as Tensor).read())]).toEqual([0, 0, 0]);
    },
  );

  it('refuses to step without gradients, without moments, and on gradients of another size', async () => {
    const parameters = start();
    const state = adamwInit(parameters);
    const gradients = await gradientsOf(parameters);
    await expect(adamwUpdate(parameters, {}, state, options)).rejects.toThrow(StateError);
    const empty: AdamWState = { step: 0, m: {}, v: {} };
    await expect(adamwUpdate(parameters, gradients, empty, options)).rejects.toThrow(StateError);
    const wrong = { w: vector(1, 2) };
    await expect(adamwUpdate(parameters, wrong, state, options)).rejects.toThrow(ShapeError);
  });

  it('trains with the same memory after each of 50 steps, and gives it all back', async () => {
    const before = device.allocatedBytes();
    const random = (shape: number[], i: number) =>
      tensor(
        device,
        'f32',
        shape,
        Array.from({ length: 12 }, (_, j) => Math.sin(i + 5 * j)),
      );
    const parameters = { a: random([4, 3], 1), b: random([3, 4], 2) };
    let state = adamwInit(parameters);
    const sizes = new Set<number>();
    const losses: number[] = [];
    for (let step = 0; step < 50; step++) {
      const tape = new Tape(Object.values(parameters));
      const y = tape.run(() => linear(gelu(linear(random([4, 3], 3), parameters.a)), parameters.b));
      const values = [...(await y.read())];
      losses.push(values.reduce((sum, value) => sum + (value - 1) ** 2, 0));
      const seed = tensor(
        device,
        'f32',
        y.shape,
        values.map((value) => 2 * (value - 1)),
      );
      const [a, b] = tape.backward([[y, seed]]);
      ({ state } = await adamwUpdate(parameters, { a, b }, state, options));
      for (const done of [a, b, seed]) done?.dispose();
      tape.dispose();
      sizes.add(device.allocatedBytes());
    }
    expect(sizes.size).toBe(1);
    expect(losses.at(-1)).toBeLessThan((losses[0] as number) / 10);
    adamwDispose(state);
    for (const parameter of Object.values(parameters)) parameter.dispose();
    expect(device.allocatedBytes()).toBe(before);
  });
});

describe('exportAdamW and importAdamW', () => {
  it('resume with the steps that an uninterrupted run takes, bit for bit', async () => {
    const run = async (steps: number, from: ReturnType<typeof start>, state: AdamWState) => {
      for (let step = 0; step < steps; step++) {
        const gradients = await gradientsOf(from);
        ({ state } = await adamwUpdate(from, gradients, state, options));
      }
      return state;
    };
    const whole = start();
    await run(5, whole, adamwInit(whole));
    const first = start();
    const saved = await exportAdamW(await run(3, first, adamwInit(first)));
    const second = {
      w: vector(...(await first.w.read())),
      b: vector(...(await first.b.read())),
    };
    const state = await run(2, second, importAdamW(second, saved));
    expect(state.step).toBe(5);
    expect(await second.w.read()).toEqual(await whole.w.read());
    expect(await second.b.read()).toEqual(await whole.b.read());
  });

  it('refuse a state of other parameters', async () => {
    const parameters = start();
    const saved = await exportAdamW(adamwInit(parameters));
    const before = device.allocatedBytes();
    expect(() => importAdamW({ other: parameters.w }, saved)).toThrow(DataError);
    expect(() => importAdamW({ w: parameters.b }, saved)).toThrow(/"m.w" \[1\], got \[3\]/);
    expect(() => importAdamW(parameters, new Map())).toThrow(/"step"/);
    expect(device.allocatedBytes()).toBe(before);
  });
});
