import { planSharedPrefix } from '@saccade/attention';
import { randomAt, type Shape, sizeOf, UnsupportedError } from '@saccade/core';
import { type Backend, type Device, openDevice, referenceBackend } from '@saccade/ops';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { add, attention, gelu, linear, linearSample, rmsNorm, swiglu } from './fronts.ts';
import { tensor } from './scope.ts';
import { recomputable, Tape } from './tape.ts';
import type { Tensor } from './tensor.ts';

const T = 24;
const H = 16;
const LAYERS = 6;

let device: Device;
/** Most bytes on the device at a time since `peak` was last set. */
let peak = 0;
beforeEach(() => {
  const backend: Backend = referenceBackend();
  const alloc = backend.alloc.bind(backend);
  backend.alloc = (sizeBytes) => {
    const buffer = alloc(sizeBytes);
    peak = Math.max(peak, backend.allocatedBytes());
    return buffer;
  };
  device = openDevice(backend);
});
afterEach(() => device.dispose());

function drawn(name: string, shape: Shape): Tensor {
  const random = randomAt(5, name);
  const values = Float32Array.from({ length: sizeOf(shape) }, () => random.normal() / 4);
  return tensor(device, 'f32', shape, values);
}

const weightShapes = { norm: [H], q: [H, H], k: [H, H], v: [H, H], up: [H, H] };
type Weights = Record<keyof typeof weightShapes, Tensor>;

function makeWeights(): Weights[] {
  return Array.from({ length: LAYERS }, (_, layer) =>
    Object.fromEntries(
      Object.entries(weightShapes).map(([name, shape]) => [name, drawn(`${name}.${layer}`, shape)]),
    ),
  ) as Weights[];
}

/** A block with fan-out of its input, an index tensor of its own, and one weight used twice. */
function block(x: Tensor, { norm, q, k, v, up }: Weights): Tensor {
  const plan = planSharedPrefix({ prefixLength: T - 4, responseLengths: [3, 1] });
  const segments = tensor(device, 'i32', [plan.segmentCount, 3], plan.segments);
  const n = rmsNorm(x, norm, 1e-6);
  const heads = (w: Tensor) => linear(n, w).reshape([T, 2, H / 2]);
  const mixed = attention(heads(q), heads(k), heads(v), segments, { isCausal: true });
  const attended = add(x, linear(mixed.reshape([T, H]), v));
  return add(attended, swiglu(gelu(linear(attended, up)), linear(attended, q)));
}

type Mark = <Result>(x: Tensor, work: (x: Tensor) => Result) => Result;
const asIs: Mark = (x, work) => work(x);

/** Gradients of the tracked tensors, and the peak of device memory. */
async function train(
  forward: () => Tensor,
  tracked: readonly Tensor[],
  recompute: boolean,
): Promise<{ gradients: (ArrayLike<number> | undefined)[]; peakBytes: number }> {
  const seed = drawn('seed', [T, H]);
  const before = device.allocatedBytes();
  peak = before;
  const tape = new Tape(tracked, { recompute });
  const y = tape.run(forward);
  const gradients = tape.backward([[y, seed]]);
  tape.dispose();
  const peakBytes = peak - before;
  const values = await Promise.all(gradients.map((gradient) => gradient?.read()));
  for (const gradient of gradients) gradient?.dispose();
  expect(device.allocatedBytes()).toBe(before);
  seed.dispose();
  return { gradients: values, peakBytes };
}

function stack(input: Tensor, weights: readonly Weights[], mark: Mark): Tensor {
  let x = input;
  for (const layer of weights) x = mark(x, (h) => block(h, layer));
  return x;
}

describe('recomputable', () => {
  it('gives gradients of the same bits in less memory', async () => {
    const weights = makeWeights();
    const x = drawn('x', [T, H]);
    const tracked = [x, ...weights.flatMap((layer) => Object.values(layer))];
    const plain = await train(() => stack(x, weights, asIs), tracked, false);
    const kept = await train(() => stack(x, weights, recomputable), tracked, false);
    const recomputed = await train(() => stack(x, weights, recomputable), tracked, true);
    expect(kept).toEqual(plain);
    expect(recomputed.gradients).toEqual(plain.gradients);
    // One block's activations and each block's input, instead of all activations.
    expect(recomputed.peakBytes).toBeLessThan(0.5 * plain.peakBytes);
  });

  it('nests', async () => {
    const weights = makeWeights();
    const x = drawn('x', [T, H]);
    const tracked = weights.flatMap((layer) => Object.values(layer));
    const nested = () => {
      const half = (h: Tensor, part: readonly Weights[]) =>
        recomputable(h, (inner) => stack(inner, part, recomputable));
      return half(half(x, weights.slice(0, 3)), weights.slice(3));
    };
    const plain = await train(() => stack(x, weights, asIs), tracked, false);
    const recomputed = await train(nested, tracked, true);
    expect(recomputed.gradients).toEqual(plain.gradients);
  });

  it('takes several results, views, what it was given, and uses of a result outside', async () => {
    const weights = makeWeights();
    const [first, second] = weights as [Weights, Weights];
    const x = drawn('x', [T, H]);
    const forward = (mark: Mark) => () => {
      const { halves, same, out } = mark(x, (h) => {
        const y = block(h, first);
        return { halves: [y.rows(0, T / 2), y.rows(T / 2, T)] as const, same: h, out: gelu(y) };
      });
      const mixed = linear(halves[1], linear(halves[0], first.up)); // [T / 2, T / 2]
      const summed = mixed.reshape([-1, H]).rows(0, T / 4);
      const wide = linear(drawn('spread', [T, T / 4]), linear(second.up, summed));
      return add(block(add(out, same), second), add(out, wide));
    };
    const tracked = [x, ...Object.values(first), ...Object.values(second)];
    const plain = await train(forward(asIs), tracked, false);
    const recomputed = await train(forward(recomputable), tracked, true);
    expect(recomputed.gradients).toEqual(plain.gradients);
  });

  it('keeps no activations of what needs no gradient', async () => {
    const weights = makeWeights();
    const x = drawn('x', [T, H]);
    const tracked = Object.values(weights.at(-1) as Weights);
    const plain = await train(() => stack(x, weights, asIs), tracked, false);
    const marked = await train(() => stack(x, weights, recomputable), tracked, false);
    expect(marked.gradients).toEqual(plain.gradients);
    expect(marked.peakBytes).toBeLessThan(0.5 * plain.peakBytes);
  });

  it('frees what it made where no tape records', async () => {
    const [weights] = makeWeights() as [Weights];
    const x = drawn('x', [T, H]);
    const before = device.allocatedBytes();
    const y = recomputable(x, (h) => block(h, weights));
    expect(device.allocatedBytes() - before).toBe(T * H * 4);
    expect(await y.read()).toEqual(await block(x, weights).read());
  });

  it('refuses to lose a gradient in a block, too', () => {
    const x = drawn('x', [T, H]);
    const keys = tensor(device, 'i32', [T, 4], new Int32Array(4 * T));
    const tape = new Tape([x], { recompute: true });
    const sample = () => recomputable(x, (h) => linearSample(h, h, keys, 1).logprobs);
    expect(() => tape.run(sample)).toThrow(UnsupportedError);
    tape.dispose();
  });
});
