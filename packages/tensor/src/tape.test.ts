import { planSharedPrefix } from '@saccade/attention';
import { randomAt, StateError, UnsupportedError } from '@saccade/core';
import { type Device, openDevice, referenceBackend } from '@saccade/ops';
import { afterAll, describe, expect, it } from 'vitest';
import {
  add,
  attention,
  embedding,
  gatherRows,
  gelu,
  linear,
  linearLogprob,
  rmsNorm,
  swiglu,
} from './fronts.ts';
import { Scope, scope, tensor } from './scope.ts';
import { Tape } from './tape.ts';
import type { Tensor } from './tensor.ts';

const device: Device = openDevice(referenceBackend());
afterAll(() => device.dispose());

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

  it('leaves no memory behind', async () => {
    const parameters = Object.fromEntries(
      Object.entries(shapes).map(([name, shape]) => [name, normal(name, shape)]),
    );
    const bytes: number[] = [];
    for (let step = 0; step < 5; step++) {
      const tape = new Tape(Object.values(parameters));
      const output = tape.run(() => logprobs(parameters));
      const seed = tensor(device, 'f64', [4], [1, 1, 1, 1]);
      for (const gradient of tape.backward([[output, seed]])) gradient?.dispose();
      seed.dispose();
      tape.dispose();
      bytes.push(device.allocatedBytes());
    }
    expect(new Set(bytes).size).toBe(1);
  });

  it('refuses a slice of a tracked tensor instead of losing its gradient', () => {
    const w = normal('w', [4, 3]);
    const tape = new Tape([w]);
    expect(() => tape.run(() => linear(w.rows(0, 2), w))).toThrow(UnsupportedError);
    tape.dispose();
  });
});

describe('Scope', () => {
  it('frees what was made inside, except the result', async () => {
    const before = device.allocatedBytes();
    const kept = scope(() => {
      const x = normal('x', [2, 3]);
      return add(x, x);
    });
    expect(await kept.read()).toHaveLength(6);
    kept.dispose();
    expect(device.allocatedBytes()).toBe(before);
  });

  it('says what to do when a tensor is used after its scope', () => {
    let leaked: Tensor | undefined;
    scope(() => {
      leaked = normal('x', [2]);
    });
    expect(() => leaked?.array).toThrow(StateError);
  });

  it('refuses work that returns a promise', () => {
    expect(() => new Scope().run(() => Promise.resolve())).toThrow(StateError);
  });
});
