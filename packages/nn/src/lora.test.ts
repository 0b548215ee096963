import { ConfigError, randomAt, type Shape, sizeOf } from '@saccade/core';
import { type Device, openDevice, referenceBackend } from '@saccade/ops';
import { Tape, type Tensor, tensor } from '@saccade/tensor';
import { afterAll, describe, expect, it } from 'vitest';
import { linearLayer, linearSpecs } from './layers.ts';
import { loraNames, loraScale, loraScaleTensor, loraSpecs } from './lora.ts';
import { targetedLayers } from './lora-targets.ts';
import { initialize } from './parameters.ts';

const device: Device = openDevice(referenceBackend());
afterAll(() => device.dispose());

const M = 3;
const K = 5;
const N = 4;
const rank = 2;

function drawn(name: string, shape: Shape): Tensor {
  const random = randomAt(7, name);
  const values = Float64Array.from({ length: sizeOf(shape) }, () => random.normal());
  return tensor(device, 'f64', shape, values);
}

describe('a linear layer with an adapter', () => {
  const settings = { rank, alpha: 3, rsLora: false };
  const parameters = {
    'f.weight': drawn('w', [N, K]),
    'f.bias': drawn('bias', [N]),
    'f.lora_A.weight': drawn('a', [rank, K]),
    'f.lora_B.weight': drawn('b', [N, rank]),
    'f.lora_scale': tensor(device, 'f64', [1, 1], [loraScale(settings)]),
  };
  const x = drawn('x', [M, K]);

  it('adds α/r·B·A·x', async () => {
    const [w, bias, a, b, xs] = await Promise.all(
      [...Object.values(parameters).slice(0, 4), x].map((one) => one.read()),
    );
    const y = await linearLayer(parameters, 'f', x, true).read();
    for (let m = 0; m < M; m++) {
      for (let n = 0; n < N; n++) {
        let sum = bias?.[n] ?? 0;
        for (let k = 0; k < K; k++) {
          let weight = w?.[n * K + k] ?? 0;
          for (let r = 0; r < rank; r++) {
            weight += 1.5 * (b?.[n * rank + r] ?? 0) * (a?.[r * K + k] ?? 0);
          }
          sum += weight * (xs?.[m * K + k] ?? 0);
        }
        expect(y[m * N + n]).toBeCloseTo(sum, 12);
      }
    }
  });

  it('gives A, B and x the gradients of central differences, and the weight none', async () => {
    const names = ['f.lora_A.weight', 'f.lora_B.weight'] as const;
    const tracked = [...names.map((name) => parameters[name]), x];
    const seed = drawn('seed', [M, N]);
    const weights = await seed.read();
    const tape = new Tape(tracked);
    const y = tape.run(() => linearLayer(parameters, 'f', x, true));
    const gradients = tape.backward([[y, seed]]);
    tape.dispose();
    const loss = async () => {
      const values = await linearLayer(parameters, 'f', x, true).read();
      return Array.from(values).reduce((sum, value, i) => sum + value * (weights[i] ?? 0), 0);
    };
    for (const [i, parameter] of tracked.entries()) {
      const gradient = await gradients[i]?.read();
      const original = Float64Array.from(await parameter.read());
      for (let at = 0; at < original.length; at++) {
        const moved = async (step: number) => {
          const changed = original.slice();
          changed[at] = (original[at] ?? 0) + step;
          parameter.write(changed);
          return loss();
        };
        const h = 1e-5;
        const numeric = ((await moved(h)) - (await moved(-h))) / (2 * h);
        parameter.write(original);
        expect(gradient?.[at]).toBeCloseTo(numeric, 7);
      }
    }
  });

  it('starts by adding nothing, from an A that fits its width', async () => {
    const specs = [...linearSpecs('f', 64, 100, false), ...loraSpecs('f', 64, 100, 8)];
    const made = initialize(device, specs, 3);
    const { a, scale } = loraNames('f');
    const input = tensor(device, 'f32', [1, 100], new Float32Array(100).fill(1));
    const { [a]: down, ...rest } = made;
    const plain = await linearLayer(rest, 'f', input, false).read();
    const withScale = { ...made, [scale]: loraScaleTensor(device, { ...settings, rank: 8 }) };
    expect(await linearLayer(withScale, 'f', input, false).read()).toEqual(plain);
    // Uniform within ±1/√100; the standard deviation is 0.1/√3.
    const values = (await down?.read()) ?? new Float32Array();
    expect(Math.max(...values)).toBeLessThanOrEqual(0.1);
    expect(Math.min(...values)).toBeGreaterThanOrEqual(-0.1);
    const squares = Array.from(values, (value) => value ** 2);
    const variance = squares.reduce((sum, square) => sum + square, 0) / values.length;
    expect(Math.sqrt(variance)).toBeCloseTo(0.1 / Math.sqrt(3), 2);
  });

  it('scales by α/√r if rank-stabilized', () => {
    expect(loraScale({ rank: 16, alpha: 32, rsLora: false })).toBe(2);
    expect(loraScale({ rank: 16, alpha: 32, rsLora: true })).toBe(8);
  });
});

describe('targetedLayers', () => {
  const layers = ['layers.0.attn.q_proj', 'layers.0.mlp.up_proj', 'layers.1.attn.q_proj'];
  const chosen = (targets: string[]) => targetedLayers(layers, targets, 'model.lora.targets');

  it.each<[string[], number[]]>([
    [['all-linear'], [0, 1, 2]],
    [['q_proj'], [0, 2]],
    [
      ['attn.q_proj', 'up_proj'],
      [0, 1, 2],
    ],
    [['.*layers\\.1\\..*'], [2]],
    [
      ['layers.0.attn.q_proj', '.*up_proj'],
      [0, 1],
    ],
    [[], []],
  ])('chooses by %j', (targets, expected) => {
    expect(chosen(targets)).toEqual(expected.map((i) => layers[i]));
  });

  it.each([[['proj']], [['(']], [['q_proj', 'v_proj']]])('refuses %j', (targets) => {
    expect(() => chosen(targets)).toThrow(ConfigError);
    expect(() => chosen(targets)).toThrow(/model.lora.targets: .*q_proj, up_proj/);
  });
});
