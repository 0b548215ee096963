/** Every optimizer of the catalog: its formula, faults in gradients, its state, its memory. */
import { readFileSync } from 'node:fs';
import { nativeBackend } from '@saccade/backend-native';
import { ConfigError, type Random, randomAt, ShapeError, StateError } from '@saccade/core';
import { listSettings } from '@saccade/core/settings';
import { openDevice, referenceBackend } from '@saccade/ops';
import { type Tensor, tensor } from '@saccade/tensor';
import { afterAll, describe, expect, it } from 'vitest';
import type { Optimizer } from './optimizer.ts';
import { oracles, type Weights } from './oracles.fixture.ts';
import { createOptimizer, optimizers } from './registry.ts';
import { disposeState, exportState, importState, type OptimizerState } from './state.ts';

interface GoldenRun {
  readonly name: string;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly steps: readonly {
    readonly gradNorm: number;
    readonly w: readonly number[];
    readonly b: readonly number[];
  }[];
}

const goldens = JSON.parse(
  readFileSync(new URL('./goldens/optimizers.json', import.meta.url), 'utf8'),
) as readonly GoldenRun[];

const device = openDevice(nativeBackend({ threads: 2 }));
const reference = openDevice(referenceBackend());
afterAll(() => {
  device.dispose();
  reference.dispose();
});

type Parameters = Record<string, Tensor>;
const on = (home: typeof device, shape: readonly number[], values: ArrayLike<number>) =>
  tensor(home, 'f32', [...shape], Float32Array.from(values));
const normals = (random: Random, count: number, scale = 1) =>
  Float64Array.from({ length: count }, () => Math.fround(scale * random.normal()));
const sizeOf = (shape: readonly number[]) => shape.reduce((product, length) => product * length, 1);

/** A wide and a tall matrix, one that is an embedding, a vector, a column, and an odd fourth rank. */
function drawShapes(random: Random): Record<string, readonly number[]> {
  const length = () => 2 + random.integer(24);
  const [short, long] = [length(), 2 + random.integer(70)];
  return {
    'layer.wide': [short, long],
    'layer.tall': [long, short],
    'embed.weight': [length(), length()],
    norm: [length()],
    column: [length(), 1],
    patches: [1 + random.integer(3), 2, 1, length()],
  };
}

/** Settings away from the defaults, wherever a unit has them. */
function drawSettings(name: string, random: Random): Record<string, number | string | boolean> {
  const candidates: Record<string, number | string | boolean> = {
    weightDecay: random.pick([0, 0.1]),
    decays: random.pick(['all', 'matrices']),
    maxGradNorm: random.pick([0, 1, 1e3]),
    nesterov: random.pick([true, false]),
    momentum: random.pick([0, 0.9]),
    scaling: random.pick(['keller', 'moonlight']),
    adamRate: random.pick([1, 0.3]),
    beta1: random.pick([0.5, 0.9]),
    minSize: random.pick([0, 100]),
  };
  const known = listSettings(optimizers.get(name).settings).map(({ path }) => path);
  return Object.fromEntries(Object.entries(candidates).filter(([key]) => known.includes(key)));
}

async function snapshot(tensors: Readonly<Record<string, Tensor>>) {
  const values: Record<string, readonly number[]> = {};
  for (const [name, one] of Object.entries(tensors)) values[name] = [...(await one.read())];
  return values;
}

function draw(random: Random, shapes: Record<string, readonly number[]>, home = device) {
  return Object.fromEntries(
    Object.entries(shapes).map(([name, shape]) => [
      name,
      on(home, shape, normals(random, sizeOf(shape))),
    ]),
  );
}

const free = (tensors: Readonly<Record<string, Tensor>>) => {
  for (const one of Object.values(tensors)) one.dispose();
};

/** Rounding of float32 over a few steps; signs and codes may flip where a value is nearly between two. */
const TOLERANCE: Readonly<Record<string, number>> = {
  adamw: 1e-5,
  'adamw-8bit': 2e-3,
  lion: 1e-5,
  muon: 1e-4,
  sgd: 1e-5,
};

describe.each(optimizers.names)('%s', (name) => {
  it('takes the steps of its formula in float64, for random shapes and settings', async () => {
    for (let seed = 0; seed < 12; seed++) {
      const random = randomAt(seed, 'optimizer', name);
      const optimizer = createOptimizer({ name, settings: drawSettings(name, random) });
      const oracle = oracles[name]?.(optimizer.settings as Record<string, number>);
      if (oracle === undefined) throw new Error(`Write the formula of ${name} for this test.`);
      const shapes = drawShapes(random);
      const parameters: Parameters = {};
      const expected: Record<string, Weights> = {};
      for (const [key, shape] of Object.entries(shapes)) {
        const values = normals(random, sizeOf(shape));
        parameters[key] = on(device, shape, values);
        expected[key] = { shape, values };
      }
      let state = optimizer.init(parameters);
      for (let step = 0; step < 4; step++) {
        const learningRate = 10 ** -(1 + 2 * random.uniform());
        const before = Object.fromEntries(
          Object.entries(expected).map(([key, { values }]) => [key, values.slice()]),
        );
        const given: Record<string, Float64Array> = {};
        for (const [key, shape] of Object.entries(shapes)) {
          // Some steps have no gradient for the norm.
          if (key === 'norm' && step === 1) continue;
          given[key] = normals(random, sizeOf(shape), 10 ** random.integer(3));
        }
        const gradients = Object.fromEntries(
          Object.entries(given).map(([key, values]) => [
            key,
            on(device, shapes[key] ?? [], values),
          ]),
        );
        oracle(expected, given, learningRate);
        const info = { learningRate };
        const result = await optimizer.step(parameters, gradients, state, info);
        expect(result.isSkipped).toBe(false);
        ({ state } = result);
        free(gradients);
        for (const [key, { values }] of Object.entries(expected)) {
          const got = (await parameters[key]?.read()) ?? [];
          let [error, moved] = [0, 0];
          values.forEach((value, i) => {
            error += ((got[i] ?? Number.NaN) - value) ** 2;
            moved += (value - (before[key]?.[i] ?? 0)) ** 2;
          });
          const floor = 1e-7 * Math.sqrt(values.length);
          const bound = (TOLERANCE[name] ?? 1e-5) * Math.sqrt(moved) * (step + 1) + floor * 4;
          expect(Math.sqrt(error), `${key}, step ${step}, seed ${seed}`).toBeLessThanOrEqual(bound);
        }
      }
      disposeState(state);
      free(parameters);
    }
  });

  it.each([[Number.NaN], [Number.POSITIVE_INFINITY], [Number.NEGATIVE_INFINITY], [1e30]])(
    'changes nothing for a gradient of %d',
    async (bad) => {
      const random = randomAt(1, 'bad', name);
      const shapes = drawShapes(random);
      const parameters = draw(random, shapes);
      const optimizer = createOptimizer({ name });
      const first = await optimizer.step(
        parameters,
        draw(random, shapes),
        optimizer.init(parameters),
        {
          learningRate: 0.1,
        },
      );
      const [weights, tensors] = [await snapshot(parameters), await snapshot(first.state.tensors)];
      const gradients = draw(random, shapes);
      const values = normals(random, 3);
      values[1] = bad;
      gradients.norm = on(device, [3], values);
      const narrow = { ...parameters, norm: on(device, [3], [1, 2, 3]) };
      const skipped = await optimizer.step(narrow, gradients, first.state, { learningRate: 0.1 });
      expect([skipped.isSkipped, Number.isFinite(skipped.gradNorm)]).toEqual([true, false]);
      expect(skipped.state).toBe(first.state);
      expect(await snapshot(parameters)).toEqual(weights);
      expect(await snapshot(skipped.state.tensors)).toEqual(tensors);
      expect(await snapshot({ norm: narrow.norm })).toEqual({ norm: [1, 2, 3] });
    },
  );

  it('resumes with the steps of an uninterrupted run, bit for bit', async () => {
    for (const settings of [{}, drawSettings(name, randomAt(3, 'resume', name))]) {
      const optimizer = createOptimizer({ name, settings });
      const shapes = drawShapes(randomAt(2, 'resume', name));
      const run = async (from: number, to: number, weights: Parameters, state: OptimizerState) => {
        for (let step = from; step < to; step++) {
          const gradients = draw(randomAt(step, 'gradient', name), shapes);
          ({ state } = await optimizer.step(weights, gradients, state, { learningRate: 0.01 }));
          free(gradients);
        }
        return state;
      };
      const whole = draw(randomAt(4, 'weights'), shapes);
      const end = await run(0, 6, whole, optimizer.init(whole));
      const part = draw(randomAt(4, 'weights'), shapes);
      const saved = await exportState(await run(0, 3, part, optimizer.init(part)));
      const again = createOptimizer({ name: optimizer.name, settings: optimizer.settings });
      const loaded = importState(again.init(part), saved);
      const resumed = await run(3, 6, part, loaded);
      expect(await snapshot(part)).toEqual(await snapshot(whole));
      expect(await snapshot(resumed.tensors)).toEqual(await snapshot(end.tensors));
      expect(resumed.numbers).toEqual(end.numbers);
    }
  });

  it('gives the same bits whatever the order of the parameters', async () => {
    const random = randomAt(5, 'order', name);
    const shapes = drawShapes(random);
    const reversed = Object.fromEntries(Object.entries(shapes).reverse());
    const optimizer = createOptimizer({ name });
    const results = [];
    const values = new Map(Object.entries(shapes).map(([k, s]) => [k, normals(random, sizeOf(s))]));
    for (const order of [shapes, reversed]) {
      const make = () =>
        Object.fromEntries(
          Object.entries(order).map(([k, s]) => [k, on(device, s, values.get(k) ?? [])]),
        );
      const parameters = make();
      const { gradNorm } = await optimizer.step(parameters, make(), optimizer.init(parameters), {
        learningRate: 0.1,
      });
      results.push({ gradNorm, weights: await snapshot(parameters) });
    }
    expect(results[1]).toEqual(results[0]);
  });

  it('keeps its memory over steps, and gives all of it back', async () => {
    const before = device.allocatedBytes();
    const shapes = { ...drawShapes(randomAt(6, 'memory')), big: [70, 60] };
    const optimizer = createOptimizer({ name });
    const parameters = draw(randomAt(7, 'memory'), shapes);
    let state = optimizer.init(parameters);
    const bytes = new Set<number>();
    for (let step = 0; step < 5; step++) {
      const gradients = draw(randomAt(step, 'memory'), shapes);
      ({ state } = await optimizer.step(parameters, gradients, state, { learningRate: 0.1 }));
      free(gradients);
      bytes.add(device.allocatedBytes());
    }
    expect(bytes.size).toBe(1);
    disposeState(state);
    disposeState(state);
    free(parameters);
    expect(device.allocatedBytes()).toBe(before);
  });

  it('refuses steps without gradients or with some of another size, and keeps their state', async () => {
    const optimizer = createOptimizer({ name });
    const parameters = { w: on(device, [3, 2], [1, 2, 3, 4, 5, 6]) };
    const state = optimizer.init(parameters);
    const info = { learningRate: 0.1 };
    await expect(optimizer.step(parameters, {}, state, info)).rejects.toThrow(StateError);
    const wrong = { w: on(device, [3], [1, 2, 3]) };
    await expect(optimizer.step(parameters, wrong, state, info)).rejects.toThrow(ShapeError);
    const right = { w: on(device, [3, 2], [1, 1, 1, 1, 1, 1]) };
    expect((await optimizer.step(parameters, right, state, info)).isSkipped).toBe(false);
  });

  it('says of each setting what it means, and refuses what it does not know', () => {
    const { settings, description } = optimizers.get(name);
    expect(description).toMatch(/\.$/);
    for (const field of listSettings(settings)) {
      expect([field.about, field.unit].every((words) => words.length > 3)).toBe(true);
      expect(field.default).toBeDefined();
    }
    expect(() => createOptimizer({ name, settings: { beta3: 1 } })).toThrow(ConfigError);
    expect(() => createOptimizer({ name, settings: { maxGradNorm: -1 } })).toThrow(/maxGradNorm/);
    expect(JSON.parse(JSON.stringify(createOptimizer({ name }).settings))).toEqual(
      createOptimizer({ name }).settings,
    );
  });
});

it('takes the steps of torch.optim', async () => {
  for (const { name, settings, steps } of goldens) {
    const optimizer: Optimizer = createOptimizer({ name, settings });
    // torch iterates Muon in bfloat16, which has 8 bits.
    const tolerance = name === 'muon' ? 2e-2 : 1e-6;
    const parameters = {
      w: on(reference, [2, 3], [1, -2, 3, 0.5, 1.5, -1]),
      b: on(reference, [1], [0.5]),
    };
    let state = optimizer.init(parameters);
    for (const expected of steps) {
      const [w, b] = [await parameters.w.read(), await parameters.b.read()];
      const gradients = {
        w: on(
          reference,
          [2, 3],
          Array.from(w, (x) => 2 * x),
        ),
        b: on(
          reference,
          [1],
          Array.from(b, (x) => 4 * x),
        ),
      };
      const result = await optimizer.step(parameters, gradients, state, { learningRate: 0.1 });
      ({ state } = result);
      expect(Math.abs(result.gradNorm / expected.gradNorm - 1)).toBeLessThan(tolerance);
      const got = [...(await parameters.w.read()), ...(await parameters.b.read())];
      for (const [i, value] of [...expected.w, ...expected.b].entries()) {
        expect(Math.abs((got[i] ?? Number.NaN) - value), `${name} ${i}`).toBeLessThan(tolerance);
      }
    }
  }
});

it('keeps moments in a quarter of the memory with adamw-8bit', () => {
  const parameters = { w: on(device, [256, 256], new Float32Array(65536)) };
  const bytesOf = (name: string) => {
    const before = device.allocatedBytes();
    const state = createOptimizer({ name }).init(parameters);
    const bytes = device.allocatedBytes() - before;
    disposeState(state);
    return bytes;
  };
  expect(bytesOf('adamw-8bit') / bytesOf('adamw')).toBeLessThan(0.255);
});
