import { planSharedPrefix } from '@saccade/attention';
import { randomAt, ShapeError, StateError, UnsupportedError } from '@saccade/core';
import { linearLogprob as linearLogprobOp } from '@saccade/logprob';
import { type Device, openDevice, referenceBackend } from '@saccade/ops';
import { afterAll, describe, expect, it } from 'vitest';
import { apply } from './apply.ts';
import {
  add,
  attention,
  embedding,
  gatherRows,
  gelu,
  linear,
  linearLogprob,
  linearSample,
  rmsNorm,
  scatterRows,
  swiglu,
} from './fronts.ts';
import { scope, tensor } from './scope.ts';
import { constant, Tape } from './tape.ts';
import type { Tensor } from './tensor.ts';

const device: Device = openDevice(referenceBackend());
afterAll(() => device.dispose());

const zero = () => tensor(device, 'i32', [1], [0]);
const keys = () => tensor(device, 'i32', [1, 4], [1, 2, 3, 4]);
/** The log-sum-exp of the logits, which has no gradient. */
function lse(x: Tensor): Tensor {
  const outputs = apply(linearLogprobOp, { hidden: x, weight: x, targets: zero() });
  return (outputs.lse as Tensor).reshape([1, 1]);
}

const H = 8;
const V = 11;

function normal(name: string, shape: readonly number[]): Tensor {
  const random = randomAt(3, name);
  const size = shape.reduce((product, n) => product * n, 1);
  return tensor(
    device,
    'f64',
    shape,
    Float64Array.from({ length: size }, () => random.normal()),
  );
}

/** A small decoder: embedding, attention over a shared prefix, two MLPs, fan-out, LM head. */
function logprobs(p: Record<string, Tensor>): Tensor {
  const plan = planSharedPrefix({ prefixLength: 3, responseLengths: [2, 1] });
  const weight = (name: string) => p[name] as Tensor;
  const integers = (data: readonly number[]) => tensor(device, 'i32', [data.length], data);
  let x = embedding(weight('table'), integers([1, 4, V, 0, 2, V + 1]), weight('extra'));
  const n = rmsNorm(x, weight('norm'), 1e-6);
  const heads = (name: string, count: number) => linear(n, weight(name)).reshape([-1, count, 4]);
  const segments = tensor(device, 'i32', [plan.segmentCount, 3], plan.segments);
  const mixed = attention(heads('q', 2), heads('k', 1), heads('v', 1), segments, {
    isCausal: true,
  });
  x = add(x, linear(mixed.reshape([-1, H]), weight('o'), weight('bias')));
  x = add(x, swiglu(linear(x, weight('q')), gelu(linear(x, weight('o')))));
  const rows = gatherRows(x, integers([2, 2, 3, 5]));
  return linearLogprob(rows, weight('table'), integers([0, 3, -1, 7]), 0.7).logprobs;
}

const shapes: Record<string, readonly number[]> = {
  table: [V, H],
  extra: [2, H],
  norm: [H],
  q: [H, H],
  k: [4, H],
  v: [4, H],
  o: [H, H],
  bias: [H],
};

describe('Tape', () => {
  it('gives the gradients that central differences give, through fan-out, views and ties', async () => {
    const parameters = Object.fromEntries(
      Object.entries(shapes).map(([name, shape]) => [name, normal(name, shape)]),
    );
    const seed = [0.3, -1, 5, 2];
    const value = async () => {
      const result = scope(() => logprobs(parameters));
      const values = await result.read();
      result.dispose();
      return seed.reduce((sum, s, i) => sum + s * (values[i] as number), 0);
    };
    const names = Object.keys(parameters);
    const tape = new Tape(Object.values(parameters));
    const output = tape.run(() => logprobs(parameters));
    const seedTensor = tensor(device, 'f64', [4], seed);
    const gradients = tape.backward([[output, seedTensor]]);
    tape.dispose();
    for (const [i, name] of names.entries()) {
      const parameter = parameters[name] as Tensor;
      const gradient = await (gradients[i] as Tensor).read();
      const original = Float64Array.from(await parameter.read());
      for (const at of [0, Math.floor(original.length / 2), original.length - 1]) {
        const h = 1e-5;
        const moved = async (delta: number) => {
          const changed = original.slice();
          changed[at] = (original[at] as number) + delta;
          parameter.write(changed);
          return value();
        };
        const numeric = ((await moved(h)) - (await moved(-h))) / (2 * h);
        parameter.write(original);
        expect(gradient[at], `${name}[${at}]`).toBeCloseTo(numeric, 6);
      }
    }
  });

  it('adds the gradients of overlapping slices, reshaped or not, to those of the whole', async () => {
    // L = ⟨g, a·wᵀ⟩ + ⟨g, b·wᵀ⟩ + ⟨g, x·wᵀ⟩ for a = rows 0–2 of x, b = rows 1–3 through a reshape.
    const x = tensor(device, 'f64', [4, 2], [1, 2, 3, 4, 5, 6, 7, 8]);
    const w = tensor(device, 'f64', [1, 2], [10, 20]);
    const tape = new Tape([x, w]);
    const outputs = tape.run(() => {
      const a = linear(x.rows(0, 2), w);
      const b = linear(x.reshape([8]).rows(2, 6).reshape([2, 2]), w);
      return [a, b, linear(x, w)] as const;
    });
    const seeds = [
      [1, 2],
      [3, 4],
      [5, 6, 7, 8],
    ].map((g) => tensor(device, 'f64', [g.length, 1], g));
    const gradients = tape.backward(outputs.map((output, i) => [output, seeds[i]] as const));
    tape.dispose();
    // By hand: row sums of g are [1+5, 2+3+6, 4+7, 8]; dw = Σ row sum · row of x.
    const rowSums = [6, 11, 11, 8];
    expect([...(await (gradients[0] as Tensor).read())]).toEqual(
      rowSums.flatMap((g) => [10 * g, 20 * g]),
    );
    expect([...(await (gradients[1] as Tensor).read())]).toEqual([
      6 * 1 + 11 * 3 + 11 * 5 + 8 * 7,
      6 * 2 + 11 * 4 + 11 * 6 + 8 * 8,
    ]);
  });

  it('gives a slice alone a gradient that is zero elsewhere', async () => {
    const x = tensor(device, 'f64', [3, 2], [1, 2, 3, 4, 5, 6]);
    const tape = new Tape([x]);
    const y = tape.run(() => gelu(add(x.rows(1, 2), x.rows(1, 2))));
    const seed = tensor(device, 'f64', [1, 2], [1, 0]);
    const [gradient] = tape.backward([[y, seed]]);
    tape.dispose();
    const values = [...(await (gradient as Tensor).read())];
    // d gelu(2x)/dx at x = 3, from torch 2.13.
    expect(values[2]).toBeCloseTo(2.0000000709374186, 12);
    expect(values.filter((_, i) => i !== 2)).toEqual([0, 0, 0, 0, 0]);
  });

  it('multiplies by a weight of a convolution, whose gradient has its shape', async () => {
    // Patches of 2 channels, 1 frame, 1 × 2 pixels, as rows; the numbers are small enough by hand.
    const weight = tensor(device, 'f64', [2, 2, 1, 1, 2], [1, 2, 3, 4, 5, 6, 7, 8]);
    const bias = tensor(device, 'f64', [2], [10, 20]);
    const x = tensor(device, 'f64', [1, 4], [1, 0, 0, 2]);
    const tape = new Tape([weight, bias]);
    const y = tape.run(() => linear(x, weight.reshape([2, -1]), bias));
    expect([...(await y.read())]).toEqual([1 + 8 + 10, 5 + 16 + 20]);
    const seed = tensor(device, 'f64', [1, 2], [1, 3]);
    const [ofWeight, ofBias] = tape.backward([[y, seed]]);
    tape.dispose();
    expect(ofWeight?.shape).toEqual([2, 2, 1, 1, 2]);
    expect([...((await ofWeight?.read()) ?? [])]).toEqual([1, 0, 0, 2, 3, 0, 0, 6]);
    expect([...((await ofBias?.read()) ?? [])]).toEqual([1, 3]);
  });

  it('looks tokens up in a table in bf16 for activations in f32', async () => {
    const table = tensor(device, 'bf16', [3, 2], [1, 2, 3, 4, 5, 6]);
    const tape = new Tape([table]);
    const ids = tensor(device, 'i32', [2], [2, 0]);
    const y = tape.run(() => embedding(table, ids, undefined, { dtype: 'f32' }));
    expect([y.dtype, ...(await y.read())]).toEqual(['f32', 5, 6, 1, 2]);
    const seed = tensor(device, 'f32', [2, 2], [1, 0, 0, 1]);
    const [gradient] = tape.backward([[y, seed]]);
    tape.dispose();
    expect([gradient?.dtype, ...((await gradient?.read()) ?? [])]).toEqual([
      'f32',
      0,
      1,
      0,
      0,
      1,
      0,
    ]);
    expect(embedding(table, ids).dtype).toBe('bf16');
  });

  it('hands out a gradient of its own where a seed is on a tracked tensor itself', async () => {
    const x = tensor(device, 'f64', [2], [1, 2]);
    const seed = tensor(device, 'f64', [2], [3, 4]);
    const tape = new Tape([x]);
    const [gradient] = tape.backward([[x, seed]]);
    seed.dispose();
    expect([...(await (gradient as Tensor).read())]).toEqual([3, 4]);
    tape.dispose();
  });

  it('holds the same memory after each of 50 steps, slices and fan-out included', () => {
    const w = normal('w', [4, 4]);
    const seed = tensor(device, 'f64', [2, 4], new Float64Array(8).fill(1));
    const bytes = new Set<number>();
    for (let step = 0; step < 50; step++) {
      const tape = new Tape([w]);
      const output = tape.run(() => {
        const x = normal('x', [2, 4]);
        const h = add(linear(x, w), gelu(linear(x, w)));
        return add(h, w.rows(1, 3));
      });
      for (const gradient of tape.backward([[output, seed]])) gradient?.dispose();
      tape.dispose();
      bytes.add(device.allocatedBytes());
    }
    expect(bytes.size).toBe(1);
  });

  it('frees what an error leaves half way', () => {
    const w = normal('w', [4, 3]);
    const before = device.allocatedBytes();
    const tape = new Tape([w]);
    expect(() => tape.run(() => linear(gelu(w), normal('x', [2, 5])))).toThrow(ShapeError);
    tape.dispose();
    expect(device.allocatedBytes()).toBe(before);
  });

  it('does not see what runs inside constant()', async () => {
    const w = tensor(device, 'f64', [1, 2], [1, 2]);
    const tape = new Tape([w]);
    const y = tape.run(() =>
      add(
        w,
        constant(() => add(w, w)),
      ),
    );
    const [gradient] = tape.backward([[y, tensor(device, 'f64', [1, 2], [1, 1])]]);
    expect([...(await (gradient as Tensor).read())]).toEqual([1, 1]);
    tape.dispose();
  });

  it('gives no gradient where nothing depends on a tensor', () => {
    const [w, other] = [normal('w', [1, 2]), normal('other', [1, 2])];
    const tape = new Tape([w, other]);
    const y = tape.run(() => gelu(w));
    const gradients = tape.backward([[y, tensor(device, 'f64', [1, 2], [1, 1])]]);
    expect(gradients.map((gradient) => gradient?.shape)).toEqual([[1, 2], undefined]);
    tape.dispose();
  });

  it.each([
    ['writes a tracked value in place', (w: Tensor) => scatterRows(normal('c', [4, 3]), w, zero())],
    ['goes through an op without a gradient', (w: Tensor) => linearSample(w, w, keys(), 1)],
    ['goes through an output without a gradient', (w: Tensor) => add(lse(w), lse(w))],
  ])('refuses a gradient that would be lost because it %s', (_, work) => {
    const w = normal('w', [1, 3]);
    const tape = new Tape([w]);
    expect(() => tape.run(() => work(w))).toThrow(UnsupportedError);
    tape.dispose();
  });

  it('refuses a second backward, a slice to track, and a tensor tracked twice', () => {
    const w = normal('w', [2, 3]);
    const tape = new Tape([w]);
    tape.backward([]);
    expect(() => tape.backward([])).toThrow(StateError);
    expect(() => new Tape([w.rows(0, 1)])).toThrow(StateError);
    expect(() => new Tape([w, w.reshape([6])])).toThrow(StateError);
  });

  it('refuses a seed of another size', () => {
    const w = normal('w', [2, 3]);
    const tape = new Tape([w]);
    const y = tape.run(() => gelu(w));
    expect(() => tape.backward([[y, normal('g', [2, 2])]])).toThrow(ShapeError);
    tape.dispose();
  });
});

it('adds the gradients of a bf16 weight and of its rows in f32', async () => {
  const w = tensor(device, 'bf16', [3, 1], [1, 2, 3]);
  const tape = new Tape([w]);
  const [whole, part] = tape.run(() => {
    const one = tensor(device, 'bf16', [1, 1], [1]);
    const small = tensor(device, 'bf16', [1, 1], [2 ** -9]);
    return [linear(one, w), linear(small, w.rows(1, 2))] as const;
  });
  expect(whole.dtype).toBe('bf16');
  const ones = (count: number) => tensor(device, 'bf16', [1, count], Array(count).fill(1));
  const [gradient] = tape.backward([
    [part, ones(1)],
    [whole, ones(3)],
  ]);
  expect(gradient?.dtype).toBe('f32');
  // bf16 would make the middle 1.
  expect(await gradient?.read()).toEqual(Float32Array.of(1, 1 + 2 ** -9, 1));
  tape.dispose();
});
